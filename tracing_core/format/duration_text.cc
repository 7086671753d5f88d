#include "tracing_core/format/duration_text.h"

#include <charconv>
#include <string_view>

namespace tracing::inline v1 {
namespace {

void append_rounded(TextBuffer& out, double value, int decimals, std::string_view unit) noexcept {
  constexpr std::size_t kMaxSize = 32;
  if (char* const begin = out.reserve(kMaxSize)) {
    auto const end = std::to_chars(begin, begin + kMaxSize, value, std::chars_format::fixed, decimals).ptr;
    out.commit(static_cast<std::size_t>(end - begin));
  }
  out.append(unit);
}

}  // namespace

// Divides a floating-point number, as the reference does, so that ties are rounded the same way.
void append_duration(TextBuffer& out, std::uint64_t nanoseconds) noexcept {
  auto value = static_cast<double>(nanoseconds);
  for (std::string_view const unit : {"ns", "\u00b5s", "ms", "s"}) {
    if (value < 1000) return append_rounded(out, value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
    value /= 1000;
  }
  append_rounded(out, value * 1000, 0, "s");
}

}  // namespace tracing::inline v1
