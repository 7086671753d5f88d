// hot_color(): the colours of a flame graph's frames.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracing { inline namespace v1 { namespace internal {

struct Rgb {
  int red = 0;
  int green = 0;
  int blue = 0;
  friend bool operator==(Rgb const&, Rgb const&) = default;
};

/// Mixes two colours; `part`, in thousandths, is the share of `to`.
Rgb mixed(Rgb from, Rgb to, int part) noexcept;

/// Returns a hash of `text` that is equal on every machine, so that a name has one colour in all pictures.
std::uint64_t hash_of(std::string_view text) noexcept;

/// Returns a colour between yellow and red.
Rgb hot_color(std::string_view name) noexcept;
/// Returns a colour whose hue depends on the namespace or class: the part before the name's last `::`.
Rgb module_color(std::string_view name) noexcept;

/// Returns red for growth and blue for shrinkage, the stronger the nearer the change is to `largest`; grey for no
/// change.
Rgb difference_color(std::uint64_t before, std::uint64_t after, std::uint64_t largest) noexcept;

/// Returns a name without its namespaces and classes; `::` in brackets does not count.
std::string_view short_name(std::string_view name) noexcept;

}}}  // namespace tracing::v1::internal
