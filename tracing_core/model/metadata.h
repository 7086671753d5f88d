// Declares Metadata, what is known about a callsite before it runs: its names, its place in the source, its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/model/level.h"

namespace tracing::inline v1 {

/// What a callsite emits.
enum class Kind : std::uint8_t { event, span };

class Metadata;

/// The names of a callsite's fields, in the order in which they were written. A message is the field "message".
class FieldNames {
 public:
  constexpr explicit FieldNames(Metadata const& metadata) noexcept : metadata_(&metadata) {}

  constexpr std::size_t size() const noexcept;
  constexpr bool empty() const noexcept { return size() == 0; }
  /// REQUIRES: index < size().
  constexpr std::string_view operator[](std::size_t index) const noexcept;
  /// The index of the first field of this name; size() where there is none. Linear.
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

// Where one field's name stands in Metadata's text, and which recorded value is its own.
struct FieldEntry {
  std::uint32_t offset;
  std::uint32_t size : 23;
  std::uint32_t has_special_name : 1;
  std::uint32_t value_index : 8;
};

// The names that formats do not simply print: `log.x`, `r#x` and `message`. Most are told by a character or two.
constexpr bool is_special_name(char const* name, std::size_t size) noexcept {
  if (size < 2) return false;
  if (name[0] == 'r') return name[1] == '#';
  if (name[0] == 'l') return size >= 4 && name[3] == '.' && name[1] == 'o' && name[2] == 'g';
  return name[0] == 'm' && size == 7 && std::string_view(name, size) == "message";
}

constexpr FieldEntry field_entry(std::uint32_t offset, char const* name, std::size_t size, std::uint8_t value_index) noexcept {
  return {offset, static_cast<std::uint32_t>(size) & 0x7fffff, is_special_name(name, size), value_index};
}

// Whether text has to look at a name closely, since it may end the line or steer a terminal: not all of it is plain ASCII.
constexpr bool is_odd_name(std::string_view name) noexcept {
  for (char const c : name) {
    if (static_cast<signed char>(c) < ' ' || c == 0x7f) return true;
  }
  return false;
}

// A hole in the message: value `value_index` is printed at `offset` of the literal text. `spec_size` characters of format
// specification stand at `spec_offset` of Metadata's text; they may hold nested holes, numbered: `{3}`.
struct MessageHole {
  std::uint32_t offset;
  std::uint32_t spec_offset;
  std::uint16_t spec_size;
  std::uint8_t value_index;
};

inline constexpr std::uint16_t kNotOnlyNumbers = 0xffff;
inline constexpr std::uint8_t kMessageValue = 0xff;  // the value_index of the message itself
inline constexpr std::string_view kMessageName = "message";  // its name, wherever its FieldEntry points

// Metadata in the form that the macros make at compile time: one run of characters and where things end in it.
struct MetadataParts {
  char const* text = nullptr;  // name, target, function, module path, message literal, then field names and specs
  char const* file = nullptr;
  char const* arguments = nullptr;     // the statement's, where there are values that only the message uses
  FieldEntry const* fields = nullptr;  // then, `unnamed_count` of them, those values, by their places in `arguments`
  MessageHole const* holes = nullptr;
  std::uint32_t name_size = 0;
  std::uint32_t target_size = 0;
  std::uint32_t function_size = 0;
  std::uint32_t module_path_size = 0;
  std::uint32_t message_size = 0;
  std::uint32_t line = 0;
  std::uint8_t field_count = 0;
  std::uint8_t hole_count = 0;
  std::uint8_t unnamed_count = 0;  // values that are no field
  std::uint8_t value_count = 0;  // how many values a record brings: fields and what only the message uses
  Level level = {};
  Kind kind = Kind::event;
  LevelFilter max_level = {};  // the most verbose level compiled into that translation unit
  bool has_module_path = false;
  bool has_message = false;
  bool owned = false;  // made at run time: see RuntimeCallsite
  bool is_perf = false;
  bool has_odd_names = false;  // some name in it is_odd_name(); the entries of such fields have special names
  bool ends_perf_span = false;  // an event of a message, `duration_us` and `duration_ms`, made where a perf span ends
  std::uint16_t numbers_size = kNotOnlyNumbers;  // the bytes of a record's values, where all of them are numbers by their types
};

// The message without what fills its holes.
constexpr std::string_view message_literal(MetadataParts const& parts) noexcept {
  return {parts.text + parts.name_size + parts.target_size + parts.function_size + parts.module_path_size, parts.message_size};
}

}  // namespace internal

/// What is known about a callsite before it runs. Made at compile time by the macros, at run time by RuntimeCallsite.
/// Views returned live as long as the callsite.
class Metadata {
 public:
  constexpr explicit Metadata(internal::MetadataParts const& parts) noexcept : parts_(parts) {}
  Metadata(Metadata const&) = delete;
  Metadata& operator=(Metadata const&) = delete;

  constexpr Kind kind() const noexcept { return parts_.kind; }
  constexpr bool is_span() const noexcept { return parts_.kind == Kind::span; }
  constexpr bool is_event() const noexcept { return parts_.kind == Kind::event; }
  /// Whether it measures: a perf span, a perf event or what tells a perf span's end. Filters decide about these only where
  /// they say so: Filter::perf_role(). Text shows a perf span as `perf{name="..." ...}`; all else knows it by its name.
  constexpr bool is_perf() const noexcept { return parts_.is_perf; }
  constexpr Level level() const noexcept { return parts_.level; }
  /// The span's name; an event made by a macro has the name "event".
  constexpr std::string_view name() const noexcept { return {parts_.text, parts_.name_size}; }
  /// The enclosing namespace and class, or what the callsite says instead.
  constexpr std::string_view target() const noexcept { return {parts_.text + parts_.name_size, parts_.target_size}; }
  /// The enclosing function's own name.
  constexpr std::string_view function() const noexcept {
    return {parts_.text + parts_.name_size + parts_.target_size, parts_.function_size};
  }
  /// The enclosing namespace and class even where the target says otherwise; `data() == nullptr` where not known.
  constexpr std::string_view module_path() const noexcept {
    if (!parts_.has_module_path) return {};
    return {parts_.text + parts_.name_size + parts_.target_size + parts_.function_size, parts_.module_path_size};
  }
  /// The source file as the compiler was given it; empty where not known.
  constexpr std::string_view file() const noexcept {
    return parts_.file == nullptr ? std::string_view() : std::string_view(parts_.file);
  }
  /// Line in file(), from 1; 0 where not known.
  constexpr std::uint32_t line() const noexcept { return parts_.line; }
  constexpr FieldNames fields() const noexcept { return FieldNames(*this); }
  /// The most verbose level that was compiled into the callsite's translation unit.
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

}  // namespace tracing::inline v1
