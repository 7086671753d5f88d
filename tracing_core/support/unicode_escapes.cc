#include "tracing_core/support/unicode_escapes.h"

#include <algorithm>
#include <iterator>

namespace tracing { inline namespace v1 { namespace support {
namespace {

// The first code point of every run except the first. Escaped and unescaped runs alternate; the first run is escaped.
constexpr char32_t kBoundaries[] = {
#include "tracing_core/support/unicode_escapes.inc"
};
constexpr char32_t kEnd = 0x110000;

}  // namespace

CodePointRun find_escape_run(char32_t code_point) noexcept {
  auto const* const first = std::begin(kBoundaries);
  auto const* const last = std::end(kBoundaries);
  auto const* const next = std::upper_bound(first, last, code_point);
  return {
      .begin = next == first ? 0 : next[-1], .end = next == last ? kEnd : *next, .escaped = (next - first) % 2 == 0};
}

}}}  // namespace tracing::v1::support
