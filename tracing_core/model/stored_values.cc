#include "tracing_core/model/stored_values.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "tracing_core/support/words.h"

namespace tracing { inline namespace v1 {
namespace {

// A stored error consists of its own text and the texts of its causes. Each text is a size, followed by as many bytes.
// A size of all ones ends the list.
constexpr std::uint32_t kEndOfErrors = UINT32_MAX;

constexpr ErrorType kStoredErrorType{[](void const* object, void* context, void (*each)(void*, std::string_view)) {
  for (auto const* at = static_cast<char const*>(object);;) {
    std::uint32_t size;
    std::memcpy(&size, at, sizeof(size));
    if (size == kEndOfErrors) return;
    each(context, {at + sizeof(size), size});
    at += sizeof(size) + size;
  }
}};

// Returns a value of `kind` with a payload of `size` bytes.
Value with_payload(ValueKind kind, char const* payload, std::size_t size) noexcept {
  switch (kind) {
    case ValueKind::text: return Value::of_text({payload, size});
    case ValueKind::bytes: return Value::of_bytes(payload, size);
    case ValueKind::error: return internal::stored_error(payload);
    default: return Value::of_verbatim({payload, size});
  }
}

}  // namespace

namespace internal {

void append_stored_error(TextBuffer& out, Value const& error) noexcept {
  auto append_one = [](void* context, std::string_view text) {
    auto& buffer = *static_cast<TextBuffer*>(context);
    auto const size = static_cast<std::uint32_t>(text.size());
    buffer.append({reinterpret_cast<char const*>(&size), sizeof(size)});
    buffer.append(text);
  };
  error.error_type().visit(error.as_pointer(), &out, append_one);
  out.append({reinterpret_cast<char const*>(&kEndOfErrors), sizeof(kEndOfErrors)});
}

Value stored_error(char const* bytes) noexcept { return Value::of_error(bytes, kStoredErrorType); }

bool is_stored_error(std::string_view bytes) noexcept {
  for (std::uint32_t size; bytes.size() >= sizeof(size); bytes.remove_prefix(sizeof(size) + size)) {
    std::memcpy(&size, bytes.data(), sizeof(size));
    if (size == kEndOfErrors) return true;
    if (size > bytes.size() - sizeof(size)) return false;
  }
  return false;
}

}  // namespace internal

StoredValues::~StoredValues() {
  if (data_ != inline_) std::free(data_);
}

void StoredValues::shrink() noexcept {
  std::free(data_);
  data_ = inline_;
  capacity_ = kInlineBytes;
}

void StoredValues::copy_from(StoredValues const& other) noexcept {
  clear();
  if (other.size_ > capacity_ && !grow(other.size_)) return;
  std::memcpy(data_, other.data_, other.size_);
  size_ = other.size_;
  changes_ = other.changes_;
}

void StoredValues::update(Metadata const& metadata, StoredValues& recorded, bool keep_all) noexcept {
  ++changes_;
  if (recorded.empty()) return;  // memory ran out
  if (!keep_all && !replace_numbers(recorded)) return merge(metadata, recorded);
  Group* const group = recorded.group_at(0);
  Value const* const values = values_of(group);
  bool const any = std::any_of(values, values + group->count, [](Value const& value) { return !value.is_empty(); });
  if (any || keep_all) append_group(recorded);
}

void StoredValues::append_group(StoredValues const& recorded) noexcept {
  if (size_ + recorded.size_ > capacity_ && !grow(recorded.size_)) return;
  std::memcpy(data_ + size_, recorded.data_, recorded.size_);
  size_ += recorded.size_;
}

// Overwrites earlier numbers with recorded numbers, which fit in their place, and removes these from `recorded`.
// Returns false if a value of another kind has to be replaced.
bool StoredValues::replace_numbers(StoredValues& recorded) noexcept {
  Group* const from = recorded.group_at(0);
  bool are_all = true;
  for (std::size_t at = first_group_bytes(); at < size_; at += group_at(at)->size) {
    Group* const to = group_at(at);
    for (std::uint32_t i = 0; i < std::min(from->count, to->count); ++i) {
      Value& before = values_of(to)[i];
      Value& now = values_of(from)[i];
      if (before.is_empty() || now.is_empty()) continue;
      if (is_plain(before.kind()) && is_plain(now.kind())) {
        before = std::exchange(now, Value());
      } else {
        are_all = false;
      }
    }
  }
  return are_all;
}

// Rebuilds all groups, with the values in `recorded` in place of earlier values.
void StoredValues::merge(Metadata const& metadata, StoredValues& recorded) noexcept {
  StoredValues merged;
  DecodedValues added;
  decode_group(recorded.data_, 0, metadata, added);
  std::size_t const count = metadata.parts().value_count;
  for (std::size_t at = 0; at < size_;) {
    DecodedValues group;
    bool const is_first = at == 0;
    at = decode_group(data_, at, metadata, group);
    for (std::size_t i = 0; i < count && !is_first; ++i) {
      if (!group.values_[i].is_empty() && !added.values_[i].is_empty())
        group.values_[i] = std::exchange(added.values_[i], Value());
    }
    merged.add(FieldValues(metadata, group.data()));
  }
  if (std::any_of(added.values_, added.values_ + count, [](Value const& value) { return !value.is_empty(); }))
    merged.add(FieldValues(metadata, added.data()));
  merged.changes_ = changes_;
  copy_from(merged);
}

StoredValues::LastValues::LastValues(StoredValues const& values, Metadata const& metadata) noexcept
    : count_(metadata.parts().value_count) {
  for (std::size_t i = 0; i < count_; ++i) new (&last_.values_[i]) Value();
  values.for_each_group(metadata, [this](FieldValues const& group) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!group.statement_values()[i].is_empty()) last_.values_[i] = group.statement_values()[i];
    }
  });
}

bool StoredValues::LastValues::move_to(DecodedValues& group) noexcept {
  bool any = std::exchange(is_first_, false);
  for (std::size_t i = 0; i < count_; ++i) {
    if (group.values_[i].is_empty()) continue;
    group.values_[i] = std::exchange(last_.values_[i], Value());
    any |= !group.values_[i].is_empty();
  }
  return any;
}

bool StoredValues::grow(std::size_t count) noexcept {
  std::size_t const wanted = support::padded_to_word(size_ + count) * 2;
  if (wanted > UINT32_MAX) return false;
  auto* const fresh = static_cast<char*>(std::malloc(wanted));
  if (fresh == nullptr) return false;
  std::memcpy(fresh, data_, size_);
  if (data_ != inline_) std::free(data_);
  data_ = fresh;
  capacity_ = static_cast<std::uint32_t>(wanted);
  return true;
}

void StoredValues::keep_payloads() noexcept {
  std::uint32_t const start = last_;
  auto const value_at = [&](std::uint32_t i) -> Value& { return values_of(group_at(start))[i]; };
  auto const keep = [&](std::uint32_t i, ValueKind kind, std::string_view payload) {
    std::size_t const room = support::padded_to_word(payload.size());
    if (capacity_ - size_ < room && !grow(room)) [[unlikely]] {
      value_at(i) = Value();
      return;
    }
    if (!payload.empty()) std::memcpy(data_ + size_, payload.data(), payload.size());
    auto const offset = static_cast<std::uintptr_t>(size_ - start);
    value_at(i) = with_payload(kind, reinterpret_cast<char const*>(offset), payload.size());
    size_ += static_cast<std::uint32_t>(room);
  };
  std::uint32_t const count = group_at(start)->count;
  for (std::uint32_t i = 0; i < count; ++i) {
    ValueKind const kind = value_at(i).kind();
    if (is_plain(kind)) [[likely]]
      continue;
    if (kind == ValueKind::text || kind == ValueKind::verbatim || kind == ValueKind::bytes) {
      keep(i, kind, value_at(i).as_text());
      continue;
    }
    Value const value = value_at(i);
    InlineTextBuffer<256> rendered;
    kind == ValueKind::error ? internal::append_stored_error(rendered, value) : append_debug(rendered, value);
    keep(i, kind == ValueKind::error ? kind : ValueKind::verbatim, rendered.view());
  }
  group_at(start)->size = size_ - start;
}

std::size_t StoredValues::decode_group(char const* data, std::size_t at, Metadata const& metadata,
                                       DecodedValues& out) noexcept {
  auto const* const group = reinterpret_cast<Group const*>(data + at);
  auto const* const values = reinterpret_cast<Value const*>(group + 1);
  for (std::uint32_t i = 0; i < group->count; ++i) {
    Value const& value = values[i];
    new (&out.values_[i]) Value(value);
    if (is_plain(value.kind())) continue;
    auto const offset = reinterpret_cast<std::uintptr_t>(value.as_pointer());
    std::size_t const size = value.kind() == ValueKind::error ? 0 : value.as_text().size();
    out.values_[i] = with_payload(value.kind(), data + at + offset, size);
  }
  for (std::size_t i = group->count; i < metadata.parts().value_count; ++i) new (&out.values_[i]) Value();
  return at + group->size;
}

}}  // namespace tracing::v1
