#include "tracing_core/collect/cut_values.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/model/value.h"

namespace tracing::inline v1::internal {
namespace {

std::string_view first_characters(std::string_view text, std::size_t most_bytes) noexcept {
  constexpr auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  std::size_t size = most_bytes;
  while (size > 0 && is_continuation(text[size])) --size;
  return text.substr(0, size);
}

std::string_view text_of_error(Value const& error) noexcept {
  std::string_view first;
  error.error_type().visit(error.as_pointer(), &first, [](void* context, std::string_view text) {
    auto& kept = *static_cast<std::string_view*>(context);
    if (kept.data() == nullptr) kept = text;
  });
  return first;
}

// How many bytes stand behind it; an error's are those of its own text.
std::size_t size_of(Value const& value) noexcept {
  return value.kind() == ValueKind::error ? text_of_error(value).size() : value.as_text().size();
}

std::string cut(Value const& value, std::size_t most_bytes) {
  std::string text;
  if (value.kind() == ValueKind::bytes) {
    InlineTextBuffer<256> printed;
    append_debug(printed, Value::of_bytes(value.as_text().data(), most_bytes / 4));  // each prints as three or four characters
    text = printed.view();
  } else {
    text = first_characters(value.kind() == ValueKind::error ? text_of_error(value) : value.as_text(), most_bytes);
  }
  return text.append("... (").append(std::to_string(size_of(value))).append(" bytes)");
}

bool points_to_something(Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes:
    case ValueKind::error: return true;
    default: return false;
  }
}

}  // namespace

void cut_values(StoredValues& values, Metadata const& metadata, std::size_t most_bytes) noexcept {
  try {
    DecodedValues decoded;
    StoredValues::decode_group(values.data(), 0, metadata, decoded);
    std::size_t const count = metadata.parts().value_count;
    std::vector<Value> shorter(decoded.data(), decoded.data() + count);
    std::vector<std::string> texts(count);
    for (std::size_t i = 0; i < count; ++i) {
      Value& value = shorter[i];
      if (!points_to_something(value) || size_of(value) <= most_bytes) continue;
      texts[i] = cut(value, most_bytes);
      value = value.kind() == ValueKind::text ? Value::of_text(texts[i]) : Value::of_verbatim(texts[i]);
    }
    StoredValues fresh;
    if (fresh.start(metadata, shorter.data())) fresh.keep_payloads();
    values.copy_from(fresh);
  } catch (...) {
  }
}

}  // namespace tracing::inline v1::internal
