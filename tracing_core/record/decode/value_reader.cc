#include "tracing_core/record/decode/value_reader.h"

#include <bit>
#include <cstring>

#include "tracing_core/model/stored_values.h"
#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 { namespace recording {

using namespace internal;

namespace {

// The number of words that a value takes, for kinds up to ValueKind::redacted.
constexpr std::size_t words_of_kind(std::uint8_t kind) noexcept {
  switch (static_cast<ValueKind>(kind)) {
    case ValueKind::empty:
    case ValueKind::redacted: return 0;
    case ValueKind::i128:
    case ValueKind::u128: return 2;
    default: return 1;
  }
}
constexpr bool is_text_kind(std::uint8_t kind) noexcept { return kind >= static_cast<std::uint8_t>(ValueKind::text); }

Value number(ValueKind kind, std::uint64_t first, std::uint64_t second) noexcept {
  switch (kind) {
    case ValueKind::boolean: return Value::of_bool(first != 0);
    case ValueKind::i64: return Value::of_i64(static_cast<std::int64_t>(first));
    case ValueKind::u64: return Value::of_u64(first);
    case ValueKind::f64: return Value::of_f64(std::bit_cast<double>(first));
    case ValueKind::f32: return Value::of_f32(static_cast<float>(std::bit_cast<double>(first)));
    case ValueKind::i128: return Value::of_i128(static_cast<Value::Int128>(Value::Uint128{second} << 64 | first));
    case ValueKind::u128: return Value::of_u128(Value::Uint128{second} << 64 | first);
    case ValueKind::pointer: return Value::of_pointer(reinterpret_cast<void const*>(first));
    case ValueKind::redacted: return Value::of_redacted();
    default: return {};
  }
}

}  // namespace

std::string_view ValueReader::take(std::size_t bytes) noexcept {
  if (bytes > rest_.size()) error_ = "a record ends too early";
  if (error_ != nullptr) return {};
  std::string_view const taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t ValueReader::take_word() noexcept {
  std::uint64_t word = 0;
  std::string_view const bytes = take(sizeof(word));
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), sizeof(word));
  return word;
}

Value ValueReader::take_value(std::uint8_t kind, std::uint32_t& whole_size) noexcept {
  whole_size = 0;
  bool const is_cut = (kind & kCutValue) != 0;
  kind = static_cast<std::uint8_t>(kind & ~kCutValue);
  if (is_text_kind(kind)) return take_text(static_cast<ValueKind>(kind), is_cut, whole_size);
  if (kind > static_cast<std::uint8_t>(ValueKind::redacted)) error_ = "the kind of a value is unknown";
  std::size_t const words = words_of_kind(kind);
  std::uint64_t const first = words > 0 ? take_word() : 0;
  std::uint64_t const second = words > 1 ? take_word() : 0;
  return number(static_cast<ValueKind>(kind), first, second);
}

Value ValueReader::take_text(ValueKind kind, bool is_cut, std::uint32_t& whole_size) noexcept {
  std::uint64_t const sizes = take_word();
  std::size_t const size = sizes & 0xffffffff;
  std::string_view text = take(padded_to_word(size));
  if (error_ != nullptr) return {};
  text = text.substr(0, size);
  if (kind == ValueKind::error) {
    if (is_stored_error(text)) return stored_error(text.data());
    kind = ValueKind::verbatim;
  }
  if (is_cut) whole_size = static_cast<std::uint32_t>(sizes >> 32);
  switch (kind) {
    case ValueKind::text: return Value::of_text(text);
    case ValueKind::bytes: return Value::of_bytes(text.data(), text.size());
    case ValueKind::verbatim: return Value::of_verbatim(text);
    default: error_ = "the kind of a value is unknown"; return {};
  }
}

}}}  // namespace tracing::v1::recording
