#include "tracing_core/collect/cut_values.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/internal/utf8.h"
#include "tracing_core/model/value.h"

namespace tracing::inline v1::internal {
namespace {

std::string_view text_of_error(Value const& error) noexcept {
  std::string_view first;
  error.error_type().visit(error.as_pointer(), &first, [](void* context, std::string_view text) {
    auto& kept = *static_cast<std::string_view*>(context);
    if (kept.data() == nullptr) kept = text;
  });
  return first;
}

// The number of bytes that the value points to; for an error, of its own text without sources.
std::size_t size_of(Value const& value) noexcept {
  return value.kind() == ValueKind::error ? text_of_error(value).size() : value.as_text().size();
}

std::string cut(Value const& value, std::size_t max_bytes) {
  std::string text;
  if (value.kind() == ValueKind::bytes) {
    InlineTextBuffer<256> printed;
    // Each byte prints as three or four characters.
    append_debug(printed, Value::of_bytes(value.as_text().data(), max_bytes / 4));
    text = printed.view();
  } else {
    std::string_view const whole = value.kind() == ValueKind::error ? text_of_error(value) : value.as_text();
    text = whole.substr(0, char_start(whole, max_bytes));
  }
  return text.append("... (").append(std::to_string(size_of(value))).append(" bytes)");
}

bool is_cuttable(Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes:
    case ValueKind::error: return true;
    default: return false;
  }
}

}  // namespace

void cut_values(StoredValues& values, Metadata const& metadata, std::size_t max_bytes) noexcept {
  try {
    DecodedValues decoded;
    StoredValues::decode_group(values.data(), 0, metadata, decoded);
    std::size_t const count = metadata.parts().value_count;
    std::vector<Value> shorter(decoded.data(), decoded.data() + count);
    std::vector<std::string> texts(count);
    for (std::size_t i = 0; i < count; ++i) {
      Value& value = shorter[i];
      if (!is_cuttable(value) || size_of(value) <= max_bytes) continue;
      texts[i] = cut(value, max_bytes);
      value = value.kind() == ValueKind::text ? Value::of_text(texts[i]) : Value::of_verbatim(texts[i]);
    }
    StoredValues fresh;
    if (fresh.start(metadata, shorter.data())) fresh.keep_payloads();
    values.copy_from(fresh);
  } catch (...) {
  }
}

}  // namespace tracing::inline v1::internal
