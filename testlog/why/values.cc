#include "testlog/why/values.h"

#include <cmath>
#include <cstring>
#include <functional>

#include "tracing_core/support/mixed_bits.h"

namespace testlog::why {
namespace {

using tracing::Value;
using tracing::ValueKind;
using tracing::support::mixed_bits;

constexpr std::size_t kMaxText = 120;

std::uint64_t id_of_text(std::string_view text) noexcept { return mixed_bits(std::hash<std::string_view>()(text) + 1); }

std::uint64_t id_of_printed(Value const& value) noexcept {
  tracing::InlineTextBuffer<256> text;
  tracing::append_debug(text, value);
  return id_of_text(text.view());
}

ValueClass class_of_number(double x) noexcept {
  if (std::isnan(x)) return ValueClass::not_a_number;
  return x < 0 ? ValueClass::negative : ValueClass::not_negative;
}

ValueClass class_of(Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::i64: return value.as_i64() < 0 ? ValueClass::negative : ValueClass::not_negative;
    case ValueKind::u64: return ValueClass::not_negative;
    case ValueKind::f64:
    case ValueKind::f32: return class_of_number(value.as_double());
    case ValueKind::pointer: return value.as_pointer() == nullptr ? ValueClass::null : ValueClass::other;
    case ValueKind::text:
    case ValueKind::verbatim: return value.as_text().empty() ? ValueClass::empty_text : ValueClass::other;
    case ValueKind::error: return ValueClass::error;
    default: return ValueClass::other;
  }
}

}  // namespace

std::string_view name(ValueClass value_class) noexcept {
  constexpr std::string_view kNames[] = {"", "negative", "0 or more", "NaN", "null", "empty", "an error"};
  return kNames[static_cast<std::size_t>(value_class)];
}

std::uint64_t id_of(Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::i64:
    case ValueKind::u64: return mixed_bits(value.as_u64());
    case ValueKind::boolean: return mixed_bits(value.as_u64() + 0xb001);
    case ValueKind::pointer: return mixed_bits(reinterpret_cast<std::uintptr_t>(value.as_pointer()) + 0xadd2e55);
    case ValueKind::f64:
    case ValueKind::f32: {
      double const x = value.as_double();
      std::uint64_t bits = 0;
      std::memcpy(&bits, &x, sizeof(bits));
      return mixed_bits(bits + 0xf10a7);
    }
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes: return id_of_text(value.as_text());
    default: return id_of_printed(value);
  }
}

std::string text_of(tracing::Value const& value) {
  tracing::InlineTextBuffer<256> text;
  tracing::append_debug(text, value);
  if (text.size() <= kMaxText) return std::string(text.view());
  std::size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text.view()[end]) & 0xc0) == 0x80) --end;  // inside a character
  return std::string(text.view().substr(0, end)) + "...";
}

bool can_be_shared(Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::i64:
    case ValueKind::u64:
    case ValueKind::text:
    case ValueKind::verbatim: return true;
    case ValueKind::pointer: return value.as_pointer() != nullptr;
    default: return false;
  }
}

void Values::see(Value const& value, Moment const& moment) {
  ValueClass const value_class = class_of(value);
  if (unsigned const bit = 1U << static_cast<unsigned>(value_class); (classes_ & bit) == 0) {
    classes_ |= bit;
    firsts_.push_back({value_class, {id_of(value), text_of(value), moment}});
  }
  // An address says nothing, even if several runs in one process have the same.
  if (value.kind() == ValueKind::pointer) is_volatile_ = true;
  if (is_volatile_) return;
  std::uint64_t const id = id_of(value);
  if (has_seen(id)) return;
  if (SeenValue* const added = add(id, moment)) added->text = text_of(value);
}

SeenValue* Values::add(std::uint64_t id, Moment const& moment) {
  if (seen_.size() == kMax) {
    is_volatile_ = true;
    return nullptr;
  }
  seen_.push_back({id, {}, moment});
  return &seen_.back();
}

SeenValue const* Values::find(std::uint64_t id) const noexcept {
  for (SeenValue const& value : seen_) {
    if (value.id == id) return &value;
  }
  return nullptr;
}

SeenValue const& Values::first_of(ValueClass value_class) const noexcept {
  auto at = firsts_.begin();
  while (at->value_class != value_class) ++at;
  return at->value;
}

bool Values::equals(Values const& other) const noexcept {
  if (is_volatile_ || other.is_volatile_ || seen_.size() != other.seen_.size()) return false;
  for (SeenValue const& value : seen_) {
    if (other.find(value.id) == nullptr) return false;
  }
  return true;
}

}  // namespace testlog::why
