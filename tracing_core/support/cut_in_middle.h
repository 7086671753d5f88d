// cut_in_middle(): shortens texts of which the beginning and the end matter.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Returns `text`, or its beginning and its end with `...` between them, so that at most `max` bytes remain. Cuts no
/// character of UTF-8. REQUIRES: max >= 16.
inline std::string cut_in_middle(std::string_view text, std::size_t max) {
  if (text.size() <= max) return std::string(text);
  auto const is_inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  std::size_t begin = (max - 3) * 2 / 3;
  std::size_t end = text.size() - (max - 3 - begin);
  while (begin > 0 && is_inside(begin)) --begin;
  while (end < text.size() && is_inside(end)) ++end;
  return std::string(text.substr(0, begin)).append("...").append(text.substr(end));
}

}}}  // namespace tracing::v1::support
