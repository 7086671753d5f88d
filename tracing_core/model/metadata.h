// Metadata: the constant properties of a callsite, such as names, source location and fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 {

/// The kind of record that a callsite emits.
enum class Kind : std::uint8_t { event, span };

class Metadata;

/// The names of a callsite's fields, in source order. A message counts as the field "message".
class FieldNames {
 public:
  constexpr explicit FieldNames(Metadata const& metadata) noexcept : metadata_(&metadata) {}

  constexpr std::size_t size() const noexcept;
  constexpr bool empty() const noexcept { return size() == 0; }
  /// REQUIRES: index < size().
  constexpr std::string_view operator[](std::size_t index) const noexcept;
  /// Returns the index of the first field of this name, or size() if no field has it. Linear.
  constexpr std::size_t index_of(std::string_view name) const noexcept {
    std::size_t index = 0;
    while (index < size() && (*this)[index] != name) ++index;
    return index;
  }
  constexpr bool contains(std::string_view name) const noexcept { return index_of(name) < size(); }

 private:
  Metadata const* metadata_;
};

namespace internal {

// The position of a field's name in the metadata's text, and the index of its value.
struct FieldEntry {
  std::uint32_t offset;
  std::uint32_t size : 23;
  std::uint32_t has_special_name : 1;  // is_special_name(), name_needs_escaping(), or an earlier field has the name
  std::uint32_t value_index : 8;
};

// True for the names that formats treat specially: `log.x`, `r#x` and `message`. Takes one or two comparisons for most
// names.
constexpr bool is_special_name(char const* name, std::size_t size) noexcept {
  if (size < 2) return false;
  if (name[0] == 'r') return name[1] == '#';
  if (name[0] == 'l') return size >= 4 && name[3] == '.' && name[1] == 'o' && name[2] == 'g';
  return name[0] == 'm' && size == 7 && std::string_view(name, size) == "message";
}

constexpr FieldEntry field_entry(std::uint32_t offset, char const* name, std::size_t size,
                                 std::uint8_t value_index) noexcept {
  return {offset, static_cast<std::uint32_t>(size) & 0x7fffff, is_special_name(name, size), value_index};
}

// True if a name has bytes that are not printable ASCII and so might end the line or control a terminal.
constexpr bool name_needs_escaping(std::string_view name) noexcept {
  for (char const c : name) {
    if (static_cast<signed char>(c) < ' ' || c == 0x7f) return true;
  }
  return false;
}

// Marks names that an earlier field also has. Such fields exist only in callsites made at run time, in recorded
// callsites, and in statements with `p->x` beside `kv("p.x", ...)`.
constexpr void mark_repeated_names(FieldEntry* fields, std::size_t count, char const* text) noexcept {
  for (std::size_t i = 1; i < count; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (fields[k].size != fields[i].size || fields[k].value_index == 0xff || fields[i].value_index == 0xff) continue;
      std::string_view const name(text + fields[i].offset, fields[i].size);
      if (name == std::string_view(text + fields[k].offset, fields[k].size)) fields[i].has_special_name = true;
    }
  }
}

// A placeholder in the message: value `value_index` is printed at `offset` of the literal text. Its format
// specification is at `spec_offset` of the metadata's text and may contain nested placeholders, which are numbered, as
// in `{3}`.
struct MessagePlaceholder {
  std::uint32_t offset;
  std::uint32_t spec_offset;
  std::uint16_t spec_size;
  std::uint8_t value_index;
  bool is_own;  // the value's type reads the specification; a text value was already printed by its specification
};

inline constexpr std::uint16_t kNotOnlyNumbers = 0xffff;
inline constexpr std::uint8_t kMessageValue = 0xff;          // value_index of the message itself
inline constexpr std::string_view kMessageName = "message";  // the message's name, whatever its FieldEntry refers to

// Metadata as the macros make it at compile time: a single text that holds all names, one after the other, and the
// names' sizes.
struct MetadataParts {
  char const* text = nullptr;  // name, target, function, module path, message literal, then field names and specs
  char const* file = nullptr;
  char const* arguments = nullptr;     // the statement's text, if the message uses values that are not fields
  FieldEntry const* fields = nullptr;  // followed by `unnamed_count` entries for values that are not fields: positions
                                       // in `arguments`
  MessagePlaceholder const* placeholders = nullptr;
  std::uint32_t name_size = 0;
  std::uint32_t target_size = 0;
  std::uint32_t function_size = 0;
  std::uint32_t module_path_size = 0;
  std::uint32_t message_size = 0;
  std::uint32_t line = 0;
  std::uint8_t field_count = 0;
  std::uint8_t placeholder_count = 0;
  std::uint8_t unnamed_count = 0;  // values that are not fields
  std::uint8_t value_count = 0;    // values of a record: fields, and the unnamed values
  Level level = {};
  Kind kind = Kind::event;
  LevelFilter max_level = {};  // the most verbose level compiled into the callsite's translation unit
  bool has_module_path = false;
  bool has_message = false;
  bool owned = false;  // made at run time and freed at some time: see RuntimeCallsite
  bool is_perf = false;
  bool has_names_to_escape = false;  // name, target or a field name_needs_escaping()
  bool is_annotation = false;
  bool is_for_caller = false;   // see Metadata::is_for_caller()
  bool has_line_zero = false;   // the line is known to be 0
  bool ends_perf_span = false;  // the event at the end of a perf span: a message, `duration_us` and `duration_ms`
  std::uint16_t numbers_size = kNotOnlyNumbers;  // bytes of a record's values, if all have number types
};

// Returns the literal text of the message, without its placeholders.
constexpr std::string_view message_literal(MetadataParts const& parts) noexcept {
  return {parts.text + parts.name_size + parts.target_size + parts.function_size + parts.module_path_size,
          parts.message_size};
}

}  // namespace internal

/// The constant properties of a callsite. Made at compile time by the macros, at run time by RuntimeCallsite. Returned
/// views are valid as long as the callsite.
class Metadata {
 public:
  constexpr explicit Metadata(internal::MetadataParts const& parts) noexcept : parts_(parts) {}
  Metadata(Metadata const&) = delete;
  Metadata& operator=(Metadata const&) = delete;

  constexpr Kind kind() const noexcept { return parts_.kind; }
  constexpr bool is_span() const noexcept { return parts_.kind == Kind::span; }
  constexpr bool is_event() const noexcept { return parts_.kind == Kind::event; }
  /// True for the records that measure performance: a perf span, a perf event, or the event at the end of a perf span.
  /// Filters decide about these records only by Filter::perf_role(). Text formats print a perf span as `perf{name="..."
  /// ...}`; other formats print its name.
  constexpr bool is_perf() const noexcept { return parts_.is_perf; }
  /// True for the annotations of a profile: only an attached layer gets them, see Registry::attach().
  constexpr bool is_annotation() const noexcept { return parts_.is_annotation; }
  /// True if a library recorded this for the code that called it: target(), function(), file() and line() are of this
  /// code. module_path() is the part of the library, such as `tracing::cuda::memory`. Filters find such a callsite by
  /// both names: a directive that names the part decides before the directives for the target.
  constexpr bool is_for_caller() const noexcept { return parts_.is_for_caller; }
  constexpr Level level() const noexcept { return parts_.level; }
  /// Returns the span's name; an event made by a macro has the name "event".
  constexpr std::string_view name() const noexcept { return {parts_.text, parts_.name_size}; }
  /// Returns the enclosing namespace and class, unless the callsite sets another target.
  constexpr std::string_view target() const noexcept { return {parts_.text + parts_.name_size, parts_.target_size}; }
  /// Returns the enclosing function's own name.
  constexpr std::string_view function() const noexcept {
    return {parts_.text + parts_.name_size + parts_.target_size, parts_.function_size};
  }
  /// Returns the enclosing namespace and class, even if the target is another; `data() == nullptr` if they are not
  /// known.
  constexpr std::string_view module_path() const noexcept {
    if (!parts_.has_module_path) return {};
    return {parts_.text + parts_.name_size + parts_.target_size + parts_.function_size, parts_.module_path_size};
  }
  /// Returns the source file as it was passed to the compiler; empty if it is not known.
  constexpr std::string_view file() const noexcept {
    return parts_.file == nullptr ? std::string_view() : std::string_view(parts_.file);
  }
  /// Returns the line in file(), from 1; 0 if it is not known.
  constexpr std::uint32_t line() const noexcept { return parts_.line; }
  constexpr FieldNames fields() const noexcept { return FieldNames(*this); }
  /// Returns the most verbose level compiled into the callsite's translation unit.
  constexpr LevelFilter max_compiled_level() const noexcept { return parts_.max_level; }

  constexpr internal::MetadataParts const& parts() const noexcept { return parts_; }

 private:
  internal::MetadataParts parts_;
};

constexpr std::size_t FieldNames::size() const noexcept { return metadata_->parts().field_count; }
constexpr std::string_view FieldNames::operator[](std::size_t index) const noexcept {
  internal::FieldEntry const& entry = metadata_->parts().fields[index];
  if (entry.value_index == internal::kMessageValue) return internal::kMessageName;
  return {metadata_->parts().text + entry.offset, entry.size};
}

}}  // namespace tracing::v1
