// StoredValues: the values of a span or event, kept after the statement that recorded them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/field_values.h"

namespace tracing { inline namespace v1 {

/// The values of one statement, decoded from storage and borrowed from it.
class DecodedValues {
 public:
  DecodedValues() noexcept {}  // leaves the values uninitialized: only as many as a statement has are ever set

  Value const* data() const noexcept { return values_; }

 private:
  friend class StoredValues;
  union {
    Value values_[256];
  };
};

/// Stores typed values in one block of bytes: numbers as they are, text as a copy, objects as their printed text. The
/// values form groups: the values at the beginning are one group, and each later call that records values adds another.
/// Position-independent: the bytes may be copied elsewhere. The first bytes are inline, further bytes are allocated by
/// malloc; values are dropped if memory runs out. Single-thread.
class StoredValues {
 public:
  StoredValues() noexcept = default;
  StoredValues(StoredValues const&) = delete;
  StoredValues& operator=(StoredValues const&) = delete;
  ~StoredValues();

  /// Replaces the content by one group: the values of one statement. If it returns true, some of them are pointers, and
  /// keep_payloads() must be called next.
  [[nodiscard]] bool start(FieldValues const& values) noexcept {
    return start(values.metadata(), values.statement_values());
  }
  /// As above, with `values` in the order of the statement's arguments; null if all are empty.
  [[nodiscard]] bool start(Metadata const& metadata, Value const* values) noexcept {
    clear();
    return add_borrowed(metadata, values);
  }
  /// True if the values of `metadata` are a few numbers, for which start_numbers() suffices.
  static bool are_few_numbers(Metadata const& metadata) noexcept {
    return metadata.parts().numbers_size <= kInlineBytes - sizeof(Group);
  }
  /// Does what start() does, in a few instructions. REQUIRES: are_few_numbers(metadata).
  void start_numbers(Metadata const& metadata, Value const* values) noexcept {
    std::size_t const bytes = metadata.parts().numbers_size;
    std::size_t const size = sizeof(Group) + bytes;
    *reinterpret_cast<Group*>(data_) = {static_cast<std::uint32_t>(size), metadata.parts().value_count};
    size_ = static_cast<std::uint32_t>(size);
    changes_ = 1;
    last_ = 0;
    // The index counts from the negative size up to zero, so that one register serves both pointers and the end test.
    char const* const from_end = reinterpret_cast<char const*>(values) + bytes;
    char* const to_end = data_ + size;
    for (auto i = -static_cast<std::ptrdiff_t>(bytes); i != 0; i += sizeof(Value))
      *reinterpret_cast<Value*>(to_end + i) = *reinterpret_cast<Value const*>(from_end + i);
  }
  /// Adds a group: the values of one statement.
  void add(FieldValues const& values) noexcept {
    if (add_borrowed(values.metadata(), values.statement_values())) keep_payloads();
  }
  /// Adds the only group of `recorded`, which has the same fields. If a field was already recorded after the beginning,
  /// its new value takes the earlier value's place, so that the size does not grow with the number of calls; `keep_all`
  /// keeps all values instead. May change `recorded`.
  void update(Metadata const& metadata, StoredValues& recorded, bool keep_all = false) noexcept;
  /// Copies the data that the last group's values point to; copies objects as their printed text.
  void keep_payloads() noexcept;
  /// Removes all groups; keeps the buffer if it is small.
  void clear() noexcept {
    if (capacity_ > kMaxKept) shrink();
    size_ = 0;
    changes_ = 0;
  }
  /// Replaces the content with a copy of the other's content.
  void copy_from(StoredValues const& other) noexcept;

  /// True if it has more memory than clear() keeps.
  bool is_large() const noexcept { return capacity_ > kMaxKept; }
  std::size_t size_bytes() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Counts how often values were added. If the count has changed, anything made from earlier values is out of date.
  std::uint32_t changes() const noexcept { return changes_; }
  std::uint32_t group_count() const noexcept {
    std::uint32_t count = 0;
    for (std::size_t at = 0; at < size_; at += group_at(at)->size) ++count;
    return count;
  }
  /// Returns the size of the first group; 0 if there is none.
  std::size_t first_group_bytes() const noexcept { return size_ == 0 ? 0 : group_at(0)->size; }

  /// Calls `f(FieldValues)` for each group in order. The values are borrowed from this object. A field may occur in
  /// several groups.
  template <class F>
  void for_each_group(Metadata const& metadata, F&& f) const {
    for (std::size_t at = 0; at < size_;) {
      DecodedValues decoded;
      at = decode_group(data_, at, metadata, decoded);
      f(FieldValues(metadata, decoded.data()));
    }
  }

  /// Calls `f(FieldValues)` for each group in order, with each field only once: in the first group that has it, with
  /// its last value.
  template <class F>
  void for_each_last_group(Metadata const& metadata, F&& f) const {
    if (size_ == first_group_bytes()) return for_each_group(metadata, f);
    LastValues last(*this, metadata);
    for (std::size_t at = 0; at < size_;) {
      DecodedValues decoded;
      at = decode_group(data_, at, metadata, decoded);
      if (last.move_to(decoded)) f(FieldValues(metadata, decoded.data()));
    }
  }

  /// Returns the stored values in the order of the statement's arguments if all have number types and were recorded
  /// once; otherwise null.
  Value const* only_numbers(Metadata const& metadata) const noexcept {
    bool const are_numbers = changes_ == 1 && metadata.parts().numbers_size != internal::kNotOnlyNumbers;
    return are_numbers ? reinterpret_cast<Value const*>(data_ + sizeof(Group)) : nullptr;
  }

  /// Returns the size_bytes() bytes, for copying them elsewhere. A copy must be aligned to 8.
  char const* data() const noexcept { return data_; }
  /// Reads the group at offset `at` of a copy of data(); returns the offset of the next group.
  static std::size_t decode_group(char const* data, std::size_t at, Metadata const& metadata,
                                  DecodedValues& out) noexcept;

 private:
  // The head of a group. `count` values follow it, and then the data they point to; their pointers are offsets from
  // this head.
  struct Group {
    std::uint32_t size;  // in bytes, with values and data
    std::uint32_t count;
  };

  // The last values of the fields, for groups that repeat fields.
  class LastValues {
   public:
    LastValues(StoredValues const& values, Metadata const& metadata) noexcept;
    // Replaces the values of a group with the last values, and removes the fields that an earlier group had. Returns
    // true if values are left, or if it is the first group.
    bool move_to(DecodedValues& group) noexcept;

   private:
    std::size_t const count_;
    bool is_first_ = true;
    DecodedValues last_;
  };

  Group* group_at(std::size_t at) noexcept { return reinterpret_cast<Group*>(data_ + at); }
  Group const* group_at(std::size_t at) const noexcept { return reinterpret_cast<Group const*>(data_ + at); }
  static Value* values_of(Group* group) noexcept { return reinterpret_cast<Value*>(group + 1); }
  bool replace_numbers(StoredValues& recorded) noexcept;
  void merge(Metadata const& metadata, StoredValues& recorded) noexcept;
  void append_group(StoredValues const& recorded) noexcept;

  // True if none of the or-ed kinds is a pointer.
  static constexpr bool is_plain(unsigned kinds) noexcept {
    return (kinds & static_cast<unsigned>(ValueKind::text)) == 0;
  }
  static constexpr bool is_plain(ValueKind kind) noexcept { return is_plain(static_cast<unsigned>(kind)); }
  static constexpr std::uint32_t group_size(std::uint32_t count) noexcept {
    return static_cast<std::uint32_t>(sizeof(Group) + count * sizeof(Value));
  }
  // Writes values unchanged; returns true if some of them are pointers.
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
    if (size_ + group_size(count) > capacity_ && !grow(group_size(count))) [[unlikely]]
      return false;
    last_ = size_;
    size_ += group_size(count);
    ++changes_;
    return write_group(data_ + last_, count, values);
  }
  bool grow(std::size_t count) noexcept;
  void shrink() noexcept;

  static constexpr std::uint32_t kInlineBytes = 128;
  static constexpr std::uint32_t kMaxKept = 4096;
  char* data_ = inline_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInlineBytes;
  std::uint32_t changes_ = 0;
  std::uint32_t last_ = 0;  // where the last group starts
  alignas(8) char inline_[kInlineBytes];
};

namespace internal {

/// Appends an error's own text and the texts of its causes, in the form that stored_error() reads.
void append_stored_error(TextBuffer& out, Value const& error) noexcept;
/// Returns an error that borrows its texts from bytes of this form.
Value stored_error(char const* bytes) noexcept;
/// True if these bytes form an error, wherever they came from.
bool is_stored_error(std::string_view bytes) noexcept;

}  // namespace internal
}}  // namespace tracing::v1
