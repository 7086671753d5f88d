// A group is a header followed by its entries; each entry is a header followed by its payload. Everything is padded to eight
// bytes, so that numbers are read where they lie.
#include "tracing_core/model/stored_values.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tracing::inline v1 {
namespace {

struct GroupHeader {
  std::uint32_t size;  // with this header
  std::uint32_t entries;
};

struct EntryHeader {
  std::uint32_t payload_size;  // without padding
  std::uint8_t index;
  ValueKind kind;
  std::uint16_t unused;
};
static_assert(sizeof(GroupHeader) == 8 && sizeof(EntryHeader) == 8);

constexpr std::size_t padded(std::size_t size) noexcept { return (size + 7) & ~std::size_t{7}; }

// A stored error is its own text and its causes': each a length and that many bytes, ended by a length of all ones.
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

void append_error_texts(TextBuffer& out, Value const& error) noexcept {
  auto append_one = [](void* context, std::string_view text) {
    auto& buffer = *static_cast<TextBuffer*>(context);
    auto const size = static_cast<std::uint32_t>(text.size());
    buffer.append({reinterpret_cast<char const*>(&size), sizeof(size)});
    buffer.append(text);
  };
  error.error_type().visit(error.as_pointer(), &out, append_one);
  out.append({reinterpret_cast<char const*>(&kEndOfErrors), sizeof(kEndOfErrors)});
}

}  // namespace

StoredValues::~StoredValues() {
  if (data_ != inline_) std::free(data_);
}

void StoredValues::clear() noexcept {
  constexpr std::uint32_t kMostKept = 4096;
  if (capacity_ > kMostKept) {
    std::free(data_);
    data_ = inline_;
    capacity_ = kInlineBytes;
  }
  size_ = 0;
  groups_ = 0;
}

void StoredValues::copy_from(StoredValues const& other) noexcept {
  clear();
  if (char* const to = reserve(other.size_)) {
    std::memcpy(to, other.data_, other.size_);
    size_ = other.size_;
    groups_ = other.groups_;
  }
}

char* StoredValues::reserve(std::size_t count) noexcept {
  if (size_ + count > capacity_) [[unlikely]] {
    std::size_t const wanted = padded(size_ + count) * 2;
    if (wanted > UINT32_MAX) return nullptr;
    auto* const fresh = static_cast<char*>(std::malloc(wanted));
    if (fresh == nullptr) return nullptr;
    std::memcpy(fresh, data_, size_);
    if (data_ != inline_) std::free(data_);
    data_ = fresh;
    capacity_ = static_cast<std::uint32_t>(wanted);
  }
  return data_ + size_;
}

void StoredValues::add(FieldValues const& values) noexcept {
  std::uint32_t const start = size_;
  char* const header = reserve(sizeof(GroupHeader));
  if (header == nullptr) return;
  size_ += sizeof(GroupHeader);
  std::size_t const count = values.metadata().parts().value_count;
  std::uint32_t entries = 0;
  if (Value const* const statement = values.statement_values()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (statement[i].is_empty()) continue;
      std::uint32_t const before = size_;
      add_value(static_cast<std::uint8_t>(i), statement[i]);
      entries += size_ != before;
    }
  }
  GroupHeader const group{size_ - start, entries};
  std::memcpy(data_ + start, &group, sizeof(group));
  ++groups_;
}

bool StoredValues::add_stored(char const* groups, std::size_t size, std::uint32_t count, bool may_grow) noexcept {
  if (!may_grow && size_ + size > capacity_) return false;
  char* const to = reserve(size);
  if (to == nullptr) return false;
  std::memcpy(to, groups, size);
  size_ += static_cast<std::uint32_t>(size);
  groups_ += count;
  return true;
}

void StoredValues::add_value(std::uint8_t index, Value const& value) noexcept {
  InlineTextBuffer<256> rendered;
  ValueKind kind = value.kind();
  std::string_view payload;
  std::uint64_t words[2];
  switch (kind) {
    case ValueKind::text:
    case ValueKind::verbatim:
    case ValueKind::bytes: payload = value.as_text(); break;
    case ValueKind::error:
      append_error_texts(rendered, value);
      payload = rendered.view();
      break;
    case ValueKind::custom:
    case ValueKind::message:
      append_debug(rendered, value);
      payload = rendered.view();
      kind = ValueKind::verbatim;
      break;
    case ValueKind::i128:
    case ValueKind::u128:
      words[0] = static_cast<std::uint64_t>(value.as_u128());
      words[1] = static_cast<std::uint64_t>(value.as_u128() >> 64);
      payload = {reinterpret_cast<char const*>(words), 16};
      break;
    default:
      words[0] = value.as_u64();
      payload = {reinterpret_cast<char const*>(words), 8};
      break;
  }
  if (payload.size() > UINT32_MAX / 4) return;
  std::size_t const needed = sizeof(EntryHeader) + padded(payload.size());
  char* const to = reserve(needed);
  if (to == nullptr) return;
  EntryHeader const header{static_cast<std::uint32_t>(payload.size()), index, kind, 0};
  std::memcpy(to, &header, sizeof(header));
  if (!payload.empty()) std::memcpy(to + sizeof(header), payload.data(), payload.size());
  size_ += static_cast<std::uint32_t>(needed);
}

std::size_t StoredValues::decode_group(char const* data, std::size_t at, Metadata const& metadata, DecodedValues& out) noexcept {
  for (std::size_t i = 0; i < metadata.parts().value_count; ++i) new (&out.room_[i]) Value();
  GroupHeader group;
  std::memcpy(&group, data + at, sizeof(group));
  std::size_t const end = at + group.size;
  at += sizeof(group);
  for (std::uint32_t i = 0; i < group.entries; ++i) {
    EntryHeader entry;
    std::memcpy(&entry, data + at, sizeof(entry));
    char const* const payload = data + at + sizeof(entry);
    std::uint64_t words[2] = {};
    if (entry.kind == ValueKind::i128 || entry.kind == ValueKind::u128) {
      std::memcpy(words, payload, 16);
    } else if (entry.payload_size == 8) {
      std::memcpy(words, payload, 8);
    }
    std::string_view const text(payload, entry.payload_size);
    Value& value = out.room_[entry.index];
    switch (entry.kind) {
      case ValueKind::boolean: value = Value::of_bool(words[0] != 0); break;
      case ValueKind::i64: value = Value::of_i64(static_cast<std::int64_t>(words[0])); break;
      case ValueKind::u64: value = Value::of_u64(words[0]); break;
      case ValueKind::f64: value = Value::of_f64(std::bit_cast<double>(words[0])); break;
      case ValueKind::f32: value = Value::of_f32(static_cast<float>(std::bit_cast<double>(words[0]))); break;
      case ValueKind::pointer: value = Value::of_pointer(std::bit_cast<void const*>(words[0])); break;
      case ValueKind::text: value = Value::of_text(text); break;
      case ValueKind::bytes: value = Value::of_bytes(payload, entry.payload_size); break;
      case ValueKind::error: value = Value::of_error(payload, kStoredErrorType); break;
      case ValueKind::i128:
      case ValueKind::u128: {
        auto const bits = (static_cast<Value::Uint128>(words[1]) << 64) | words[0];
        value = entry.kind == ValueKind::i128 ? Value::of_i128(static_cast<Value::Int128>(bits)) : Value::of_u128(bits);
        break;
      }
      default: value = Value::of_verbatim(text); break;
    }
    at += sizeof(entry) + padded(entry.payload_size);
  }
  return end;
}

}  // namespace tracing::inline v1
