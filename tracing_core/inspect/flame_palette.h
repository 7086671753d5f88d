// Declares the colours of a flame graph's frames.
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

/// Between `from` and `to`; `part` counts in thousandths.
Rgb mixed(Rgb from, Rgb to, int part) noexcept;

/// A number of `text` that is the same everywhere and always: the same name has the same colour in every picture.
std::uint64_t hash_of(std::string_view text) noexcept;

Rgb hot_color(std::string_view name) noexcept;
Rgb cool_color(std::string_view name) noexcept;
Rgb green_color(std::string_view name) noexcept;
Rgb grey_color(std::string_view name) noexcept;
/// One hue for each namespace or class: what stands before the name's last `::`.
Rgb module_color(std::string_view name) noexcept;
/// By what perf's collapsers tell of a function: kernel, compiled at run time, inlined, C++, other.
Rgb perf_color(std::string_view name) noexcept;

/// Red for what grew, blue for what shrank, the stronger the nearer the change is to `largest`; grey for no change.
Rgb difference_color(std::uint64_t before, std::uint64_t after, std::uint64_t largest) noexcept;

/// Where a name begins behind its namespaces and classes; `::` in brackets does not count.
std::string_view short_name(std::string_view name) noexcept;

}  // namespace tracing::inline v1::internal
