// StoredValues: the values of a span or event, kept after the statement that recorded them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/field_values.h"

namespace tracing::inline v1 {

/// The values of one statement as Value again, borrowed from where they are stored.
class DecodedValues {
 public:
  DecodedValues() noexcept {}  // leaves the values uninitialised: only as many as a statement has are ever set

  Value const* data() const noexcept { return values_; }

 private:
  friend class StoredValues;
  union {
    Value values_[256];
  };
};

/// Typed values in one block of bytes: numbers as they are, text copied, objects as their printed text. In groups: one
/// from the beginning, and one for each time that values were recorded later. Position-independent: the bytes may be
/// copied elsewhere. The first bytes are inline, more are allocated by malloc; values that memory runs out for are
/// dropped. Single-thread.
class StoredValues {
 public:
  StoredValues() noexcept = default;
  StoredValues(StoredValues const&) = delete;
  StoredValues& operator=(StoredValues const&) = delete;
  ~StoredValues();

  /// Replaces the content by one group: the values of one statement. If true, some of them are pointers:
  /// keep_payloads() must be called next.
  [[nodiscard]] bool start(FieldValues const& values) noexcept {
    return start(values.metadata(), values.statement_values());
  }
  /// The same for `values` in the order of the statement's arguments; null if all are empty.
  [[nodiscard]] bool start(Metadata const& metadata, Value const* values) noexcept {
    clear();
    return add_borrowed(metadata, values);
  }
  /// Whether the values of `metadata` are a few numbers, for which start_numbers() suffices.
  static bool are_few_numbers(Metadata const& metadata) noexcept {
    return metadata.parts().numbers_size <= kInlineBytes - sizeof(Group);
  }
  /// start() in a few instructions. REQUIRES: are_few_numbers(metadata).
  void start_numbers(Metadata const& metadata, Value const* values) noexcept {
    std::size_t const bytes = metadata.parts().numbers_size;
    std::size_t const size = sizeof(Group) + bytes;
    *reinterpret_cast<Group*>(data_) = {static_cast<std::uint32_t>(size), metadata.parts().value_count};
    size_ = static_cast<std::uint32_t>(size);
    changes_ = 1;
    last_ = 0;
    // An index that counts up to zero from the end: one register for both pointers and the end.
    char const* const from_end = reinterpret_cast<char const*>(values) + bytes;
    char* const to_end = data_ + size;
    for (auto i = -static_cast<std::ptrdiff_t>(bytes); i != 0; i += sizeof(Value))
      *reinterpret_cast<Value*>(to_end + i) = *reinterpret_cast<Value const*>(from_end + i);
  }
  /// Adds a group: the values of one statement.
  void add(FieldValues const& values) noexcept {
    if (add_borrowed(values.metadata(), values.statement_values())) keep_payloads();
  }
  /// Adds the only group of `recorded`, which has the same fields. A field that was recorded since the beginning
  /// already has its new value in place of the earlier one, so that the size does not grow with the number of calls,
  /// unless all values are to be kept. `recorded` may be changed.
  void update(Metadata const& metadata, StoredValues& recorded, bool keep_all = false) noexcept;
  /// Copies the data that the last group's values point to, and prints objects.
  void keep_payloads() noexcept;
  /// Removes all groups; keeps a small buffer.
  void clear() noexcept {
    if (capacity_ > kMaxKept) shrink();
    size_ = 0;
    changes_ = 0;
  }
  /// Replaces the content by that of `other`.
  void copy_from(StoredValues const& other) noexcept;

  /// Whether it has more memory than clear() keeps.
  bool is_large() const noexcept { return capacity_ > kMaxKept; }
  std::size_t size_bytes() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// How often values were added, to see whether something made from them is out of date.
  std::uint32_t changes() const noexcept { return changes_; }
  std::uint32_t group_count() const noexcept {
    std::uint32_t count = 0;
    for (std::size_t at = 0; at < size_; at += group_at(at)->size) ++count;
    return count;
  }
  /// The size of the first group; zero if there is none.
  std::size_t first_group_bytes() const noexcept {
    return size_ == 0 ? 0 : group_at(0)->size;
  }

  /// Calls `f(FieldValues)` for each group in order. The values are borrowed from here. A field may be in several.
  template <class F>
  void for_each_group(Metadata const& metadata, F&& f) const {
    for (std::size_t at = 0; at < size_;) {
      DecodedValues decoded;
      at = decode_group(data_, at, metadata, decoded);
      f(FieldValues(metadata, decoded.data()));
    }
  }

  /// The same with each field once: in the first group that has it, with its last value.
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

  /// The stored values in the order of the statement's arguments, if all have number types and were recorded once; else
  /// null.
  Value const* only_numbers(Metadata const& metadata) const noexcept {
    bool const are_numbers = changes_ == 1 && metadata.parts().numbers_size != internal::kNotOnlyNumbers;
    return are_numbers ? reinterpret_cast<Value const*>(data_ + sizeof(Group)) : nullptr;
  }

  /// The size_bytes() bytes, to be copied elsewhere. A copy must be aligned to 8.
  char const* data() const noexcept { return data_; }
  /// Reads the group at offset `at` of such a copy; returns the offset of the next group.
  static std::size_t decode_group(char const* data, std::size_t at, Metadata const& metadata,
                                  DecodedValues& out) noexcept;

 private:
  // Followed by `count` values, whose pointers are offsets from here, and the data they point to.
  struct Group {
    std::uint32_t size;  // including values and data
    std::uint32_t count;
  };

  // The last values of fields that are in several groups.
  class LastValues {
   public:
    LastValues(StoredValues const& values, Metadata const& metadata) noexcept;
    // Replaces the values of a group by the last ones, and removes those of fields that an earlier group had. Whether
    // any are left, or it is the first group.
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

  // Whether none of the or-ed kinds is a pointer.
  static constexpr bool is_plain(unsigned kinds) noexcept {
    return (kinds & static_cast<unsigned>(ValueKind::text)) == 0;
  }
  static constexpr bool is_plain(ValueKind kind) noexcept { return is_plain(static_cast<unsigned>(kind)); }
  static constexpr std::uint32_t group_size(std::uint32_t count) noexcept {
    return static_cast<std::uint32_t>(sizeof(Group) + count * sizeof(Value));
  }
  // Writes values unchanged; true if some of them are pointers.
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

/// Appends an error's own text and those of its causes, as stored_error() takes them.
void append_stored_error(TextBuffer& out, Value const& error) noexcept;
/// Such an error, borrowed from its bytes.
Value stored_error(char const* bytes) noexcept;
/// Whether these bytes are an error, however they were obtained.
bool is_stored_error(std::string_view bytes) noexcept;

}  // namespace internal
}  // namespace tracing::inline v1
