#include "tracing_core/export/timeline/kernel_details.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tracing_core/export/timeline/timeline.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace recording {
namespace {

std::optional<std::uint64_t> count_of(Value const& value) noexcept {
  if (value.kind() == ValueKind::u64) return value.as_u64();
  if (value.kind() == ValueKind::i64 && value.as_i64() >= 0) return static_cast<std::uint64_t>(value.as_i64());
  return std::nullopt;
}

// Returns `2,1,1` for a value that prints as `(2, 1, 1)`, and an empty text for other values.
std::string axes_of(Value const& value) {
  std::string axes;
  with_text_of(value, [&axes](std::string_view text) {
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return;
    for (char const c : text.substr(1, text.size() - 2)) {
      if (c != ' ') axes.push_back(c);
    }
  });
  bool const is_three_numbers =
      std::count(axes.begin(), axes.end(), ',') == 2 && axes.find_first_not_of("0123456789,") == axes.npos;
  return is_three_numbers ? axes : std::string();
}

void append_word(TextBuffer& out, std::string_view key, std::string_view value) {
  if (!out.empty()) out.push_back(' ');
  out.append(key);
  out.push_back(':');
  out.append(value);
}

}  // namespace

void append_kernel_details(TextBuffer& out, SpanRef span) {
  std::optional<std::uint64_t> registers, shared, dynamic;
  std::string grid, block;
  for_each_value_of(span, [&](FieldValues const& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::string_view const name = values.name(i);
      Value const value = values.value(i);
      if (name == "registers") registers = count_of(value);
      if (name == "shared_bytes") shared = count_of(value);
      if (name == "dynamic_shared_bytes") dynamic = count_of(value);
      if (name == "grid") grid = axes_of(value);
      if (name == "block") block = axes_of(value);
    }
  });
  InlineTextBuffer<256> words;
  if (registers) append_word(words, "regs", std::to_string(*registers));
  if (shared) append_word(words, "static_shared", std::to_string(*shared - std::min(*shared, dynamic.value_or(0))));
  if (shared) append_word(words, "dynamic_shared", std::to_string(dynamic.value_or(0)));
  if (!grid.empty()) append_word(words, "grid", grid);
  if (!block.empty()) append_word(words, "block", block);
  out.append(words.view());
}

}}}  // namespace tracing::v1::recording
