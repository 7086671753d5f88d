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
    if (capacity_ > kMostKept) [[unlikely]] shrink();
    size_ = 0;
    groups_ = 0;
    return add_borrowed(values);
  }
  /// Adds a group: the values of one statement.
  void add(FieldValues const& values) noexcept {
    if (add_borrowed(values)) keep_payloads();
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

  std::size_t size_bytes() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::uint32_t group_count() const noexcept { return groups_; }

  /// Calls `f(FieldValues)` for each group in order. The values are borrowed from here.
  template <class F>
  void for_each_group(Metadata const& metadata, F&& f) const {
    for (std::size_t at = 0; at < size_;) {
      DecodedValues decoded;
      at = decode_group(data_, at, metadata, decoded);
      f(FieldValues(metadata, decoded.data()));
    }
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

  // The kinds that point to nothing come first.
  static constexpr bool is_plain(ValueKind kind) noexcept { return kind < ValueKind::text; }
  bool add_borrowed(FieldValues const& values) noexcept {
    std::uint32_t const start = size_;
    Value const* from = values.statement_values();
    std::uint32_t const count = from == nullptr ? 0 : values.metadata().parts().value_count;
    std::uint32_t const end = start + static_cast<std::uint32_t>(sizeof(Group) + count * sizeof(Value));
    if (end > capacity_ && !grow(end - start)) [[unlikely]] return false;
    last_ = start;
    size_ = end;
    ++groups_;
    char* const at = data_ + start;
    *reinterpret_cast<Group*>(at) = {end - start, count};
    ValueKind most = ValueKind::empty;
    for (auto* to = reinterpret_cast<Value*>(at + sizeof(Group)); to != reinterpret_cast<Value*>(data_ + end); ++to, ++from) {
      *to = *from;
      most = from->kind() > most ? from->kind() : most;
    }
    return !is_plain(most);
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
