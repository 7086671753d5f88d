// Declares StoredValues, the values of a span or event kept after the statement that recorded them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracing_core/model/field_values.h"

namespace tracing::inline v1 {

/// The values of one statement as Value again, borrowed from where they are stored.
class DecodedValues {
 public:
  DecodedValues() noexcept {}  // leaves the room as it is: only as many as a statement has are ever set

  Value const* data() const noexcept { return room_; }

 private:
  friend class StoredValues;
  union {
    Value room_[256];
  };
};

/// Typed values in one run of bytes: numbers as they are, text copied, objects rendered. Holds one group for each time that
/// values were recorded. Position-independent: the bytes may be kept elsewhere. Grows by malloc beyond its first bytes; what
/// does not fit in memory is dropped. Single-thread.
class StoredValues {
 public:
  StoredValues() noexcept = default;
  StoredValues(StoredValues const&) = delete;
  StoredValues& operator=(StoredValues const&) = delete;
  ~StoredValues();

  /// Replaces the content by one group: the values of one statement. True where some of them point to something:
  /// keep_payloads() then has to follow before anything else.
  [[nodiscard]] bool start(FieldValues const& values) noexcept {
    return start(values.metadata(), values.statement_values());
  }
  /// The same for the values of one statement of `metadata`, in its order; null: none.
  [[nodiscard]] bool start(Metadata const& metadata, Value const* values) noexcept {
    clear();
    return add_borrowed(metadata, values);
  }
  /// Whether values of `metadata` are a few numbers, for which start_numbers() will do.
  static bool are_few_numbers(Metadata const& metadata) noexcept {
    return metadata.parts().numbers_size <= kInlineBytes - sizeof(Group);
  }
  /// start() in a few instructions. REQUIRES: are_few_numbers(metadata).
  void start_numbers(Metadata const& metadata, Value const* values) noexcept {
    std::size_t const bytes = metadata.parts().numbers_size;
    std::size_t const size = sizeof(Group) + bytes;
    *reinterpret_cast<Group*>(data_) = {static_cast<std::uint32_t>(size), metadata.parts().value_count};
    size_ = static_cast<std::uint32_t>(size);
    groups_ = 1;
    last_ = 0;
    // Counted up to zero from the end: one register for both places and the end.
    char const* const from_end = reinterpret_cast<char const*>(values) + bytes;
    char* const to_end = data_ + size;
    for (auto i = -static_cast<std::ptrdiff_t>(bytes); i != 0; i += sizeof(Value)) {
      *reinterpret_cast<Value*>(to_end + i) = *reinterpret_cast<Value const*>(from_end + i);
    }
  }
  /// Adds a group: the values of one statement.
  void add(FieldValues const& values) noexcept {
    if (add_borrowed(values.metadata(), values.statement_values())) keep_payloads();
  }
  /// Adds `count` groups as they lie in memory: `size` bytes taken from another one. False where it has no room for them,
  /// which it then gets only if it `may_grow`.
  bool add_stored(char const* groups, std::size_t size, std::uint32_t count, bool may_grow = true) noexcept;
  /// Copies what the last group's values point to; objects print themselves.
  void keep_payloads() noexcept;
  /// As after construction; keeps a small buffer.
  void clear() noexcept {
    if (capacity_ > kMostKept) shrink();
    size_ = 0;
    groups_ = 0;
  }
  /// Replaces the content by that of `other`.
  void copy_from(StoredValues const& other) noexcept;

  /// It holds more memory than it should when it is empty: clear() gives that back.
  bool is_large() const noexcept { return capacity_ > kMostKept; }
  std::size_t size_bytes() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::uint32_t group_count() const noexcept { return groups_; }
  /// How much of that is the first group; zero where there is none.
  std::size_t first_group_bytes() const noexcept { return size_ == 0 ? 0 : reinterpret_cast<Group const*>(data_)->size; }

  /// Calls `f(FieldValues)` for each group in order. The values are borrowed from here.
  template <class F>
  void for_each_group(Metadata const& metadata, F&& f) const {
    for (std::size_t at = 0; at < size_;) {
      DecodedValues decoded;
      at = decode_group(data_, at, metadata, decoded);
      f(FieldValues(metadata, decoded.data()));
    }
  }

  /// The values where they stand, in the statement's order: where all are numbers by their types and were recorded once. Null
  /// otherwise.
  Value const* only_numbers(Metadata const& metadata) const noexcept {
    bool const are_numbers = groups_ == 1 && metadata.parts().numbers_size != internal::kNotOnlyNumbers;
    return are_numbers ? reinterpret_cast<Value const*>(data_ + sizeof(Group)) : nullptr;
  }

  /// The bytes, for those who keep them elsewhere: size_bytes() of them, to be aligned to 8.
  char const* data() const noexcept { return data_; }
  /// Reads the group that stands at `at` of bytes kept elsewhere; returns where the next one stands.
  static std::size_t decode_group(char const* data, std::size_t at, Metadata const& metadata, DecodedValues& out) noexcept;

 private:
  // Followed by `count` values, whose pointers are offsets from here, and what those point to.
  struct Group {
    std::uint32_t size;  // with all that follows
    std::uint32_t count;
  };

  // A set of kinds, or-ed together: whether none of them points to something.
  static constexpr bool is_plain(unsigned kinds) noexcept { return (kinds & static_cast<unsigned>(ValueKind::text)) == 0; }
  static constexpr bool is_plain(ValueKind kind) noexcept { return is_plain(static_cast<unsigned>(kind)); }
  static constexpr std::uint32_t group_size(std::uint32_t count) noexcept {
    return static_cast<std::uint32_t>(sizeof(Group) + count * sizeof(Value));
  }
  // Writes values as they are; true where some of them point to something.
  static bool write_group(char* at, std::uint32_t count, Value const* from) noexcept {
    *reinterpret_cast<Group*>(at) = {group_size(count), count};
    unsigned kinds = 0;
    auto* to = reinterpret_cast<Value*>(at + sizeof(Group));
    for (Value const* const end = from + count; from != end; ++to, ++from) {
      *to = *from;
      kinds |= static_cast<unsigned>(from->kind());
    }
    return !is_plain(kinds);
  }
  bool add_borrowed(Metadata const& metadata, Value const* values) noexcept {
    std::uint32_t const count = values == nullptr ? 0 : metadata.parts().value_count;
    if (size_ + group_size(count) > capacity_ && !grow(group_size(count))) [[unlikely]] return false;
    last_ = size_;
    size_ += group_size(count);
    ++groups_;
    return write_group(data_ + last_, count, values);
  }
  bool grow(std::size_t count) noexcept;
  void shrink() noexcept;

  static constexpr std::uint32_t kInlineBytes = 128;
  static constexpr std::uint32_t kMostKept = 4096;
  char* data_ = inline_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInlineBytes;
  std::uint32_t groups_ = 0;
  std::uint32_t last_ = 0;  // where the last group starts
  alignas(8) char inline_[kInlineBytes];
};

}  // namespace tracing::inline v1
