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
/// values were recorded. Grows by malloc beyond its first bytes; what does not fit in memory is dropped. Single-thread.
class StoredValues {
 public:
  StoredValues() noexcept = default;
  StoredValues(StoredValues const&) = delete;
  StoredValues& operator=(StoredValues const&) = delete;
  ~StoredValues();

  /// Adds a group: the values that are not empty.
  void add(FieldValues const& values) noexcept;
  /// Adds `count` groups as they lie in memory: `size` bytes taken from another one. False where it has no room for them,
  /// which it then gets only if it `may_grow`.
  bool add_stored(char const* groups, std::size_t size, std::uint32_t count, bool may_grow = true) noexcept;
  /// As after construction; keeps a small buffer.
  void clear() noexcept;
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

  /// The bytes, for those who keep them elsewhere: size_bytes() of them.
  char const* data() const noexcept { return data_; }
  /// Reads the group that stands at `at` of bytes kept elsewhere; returns where the next one stands.
  static std::size_t decode_group(char const* data, std::size_t at, Metadata const& metadata, DecodedValues& out) noexcept;

 private:
  void add_value(std::uint8_t index, Value const& value) noexcept;
  char* reserve(std::size_t count) noexcept;

  static constexpr std::size_t kInlineBytes = 104;
  char* data_ = inline_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInlineBytes;
  std::uint32_t groups_ = 0;
  alignas(8) char inline_[kInlineBytes];
};

}  // namespace tracing::inline v1
