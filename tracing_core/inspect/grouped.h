// Declares grouped(), a number with commas.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace tracing::inline v1::internal {

/// 1234567 as 1,234,567.
inline std::string grouped(std::uint64_t number) {
  std::string text = fmt::format_int(number).str();
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

}  // namespace tracing::inline v1::internal
