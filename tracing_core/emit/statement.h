// A statement parsed at compile time: values, fields and placeholders as ranges of the macro's own text, and the first
// mistake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/emit/arguments.h"
#include "tracing_core/emit/function_path.h"
#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 { namespace internal {

// Mistakes in a statement; the macros have a sentence for each of these numbers.
enum class Mistake : std::uint8_t {
  none = 0,
  unclear_arguments = 10,  // the commas are ambiguous
  too_many_arguments = 20,
  name_needed = 30,     // the argument is neither a name nor a kv
  literal_needed = 40,  // kv or target without a plain literal
  not_recordable = 50,  // the macros find this mistake themselves
  unmatched_brace = 60,
  no_such_argument = 70,  // `{3}` in a message with two arguments
  no_such_field = 80,     // `{n}` without a field n
  mixed_numbering = 90,   // `{}` and `{0}` in one message
  wrong_spec = 100,       // `{:d}` for text
  duplicate_name = 110,   // two fields `n`
  misplaced_threshold = 120,
};

struct ParsedPlaceholder {
  std::uint32_t offset = 0;  // index in the unescaped literal
  std::uint16_t spec_begin = 0;
  std::uint16_t spec_end = 0;
  std::uint8_t value_index = 0;
  std::uint8_t nested_count = 0;
  bool is_own = false;          // the value's type reads the specification
  std::uint8_t nested[2] = {};  // indices of the values that give width and precision
};

struct ParsedField {
  std::uint16_t begin = 0;  // index in the argument text, after a leading `this->`; other `->` are still in the range
  std::uint16_t end = 0;
  std::uint8_t value_index = 0;
  std::uint8_t argument = 0;  // index of its argument, used if the name is a constant
};

// The kind of record that a macro emits.
struct StatementKind {
  Kind kind;
  bool is_perf = false;
  bool is_annotation = false;
  bool is_handle = false;  // a perf span that is a handle, not a block; it cannot have a threshold
};

// The macro's input to the parser, all of it literals.
struct StatementText {
  char const* arguments;  // the macro's arguments, stringised
  std::size_t arguments_size;
  char const* function;  // __PRETTY_FUNCTION__
  std::size_t function_size;
  char const* file;
  char const* name;     // a span's name; empty for the function's name
  char const* target;   // TRACE_TARGET, or empty
  char const* message;  // an event's message; null for spans
  std::size_t message_size;
  std::size_t skipped;  // number of leading arguments that are neither values nor controls: level, name, message
  StatementKind kind;
  Level level;
  LevelFilter max_level;
  std::uint32_t line;
};

// The sizes of the arrays in a statement's metadata. It is a structure so that the macros name all sizes without a
// comma.
struct MetadataSizes {
  std::size_t fields;
  std::size_t placeholders;
  std::size_t characters;
};

// A parsed statement without its arrays, which are in ParsedStatement.
struct StatementOutline {
  StatementText text{};
  ArgumentInfo const* arguments = nullptr;
  FunctionPath path{};
  std::string_view name{};
  std::string_view target{};  // set if it is not the function's target
  std::size_t characters = 0;
  std::uint32_t literal_size = 0;
  std::uint8_t field_count = 0;  // number of fields without the message
  std::uint8_t placeholder_count = 0;
  std::uint8_t value_count = 0;
  bool has_only_numbers = false;
  Mistake mistake = Mistake::none;
  std::uint8_t mistaken_argument = 0;  // number from 1, after level, name and message; 0 for the entire statement

  constexpr unsigned mistake_number() const noexcept {
    return static_cast<unsigned>(mistake) + (mistaken_argument < 4 ? mistaken_argument : 4U);
  }
  constexpr MetadataSizes sizes() const noexcept { return {value_count, placeholder_count, characters}; }
  constexpr void fail(Mistake what, std::size_t argument = 0) noexcept {
    if (mistake != Mistake::none) return;
    mistake = what;
    mistaken_argument = static_cast<std::uint8_t>(argument);
  }
};

// Returns the most placeholders that a message may have: one for each argument, and eight more for arguments used
// twice.
constexpr std::size_t max_placeholders(std::size_t arguments) noexcept { return arguments == 0 ? 0 : arguments + 8; }

template <std::size_t kArguments>
struct ParsedStatement : StatementOutline {
  ParsedField fields[kArguments + 1] = {};
  ParsedPlaceholder placeholders[max_placeholders(kArguments) + 1] = {};
};

// An argument that is a value, as the message sees it.
struct ParsedValue {
  std::uint16_t begin = 0;
  std::uint16_t end = 0;
  std::uint8_t argument = 0;
  bool is_name = false;   // the text is a name and not some other expression
  bool is_named = false;  // named by kv: a field even if the message uses it
  bool is_used = false;   // used by the message through `{}` or `{2}`, not by name
};

}}}  // namespace tracing::v1::internal
