// The colours of a flame graph's frames.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracing::inline v1::internal {

struct Rgb {
  int red = 0;
  int green = 0;
  int blue = 0;
  friend bool operator==(Rgb const&, Rgb const&) = default;
};

/// Mixes two colours; `part`, in thousandths, is the share of `to`.
Rgb mixed(Rgb from, Rgb to, int part) noexcept;

/// A hash of `text` that is the same on every machine: a name has the same colour in every picture.
std::uint64_t hash_of(std::string_view text) noexcept;

/// Yellow to red.
Rgb hot_color(std::string_view name) noexcept;
/// One hue for each namespace or class: what precedes the name's last `::`.
Rgb module_color(std::string_view name) noexcept;

/// Red for growth, blue for shrinkage, the stronger the nearer the change is to `largest`; grey for no change.
Rgb difference_color(std::uint64_t before, std::uint64_t after, std::uint64_t largest) noexcept;

/// A name without its namespaces and classes; `::` in brackets does not count.
std::string_view short_name(std::string_view name) noexcept;

}  // namespace tracing::inline v1::internal
