// Declares how a callsite's metadata is made at compile time from the macro's argument text and the enclosing function.
//
// It happens twice for each statement of a program, so it is written for the compiler's interpreter: one pass over the
// text, arrays as long as the statement needs, no template but those that hold the arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/emit/argument_text.h"
#include "tracing_core/emit/arguments.h"
#include "tracing_core/emit/format_spec.h"
#include "tracing_core/emit/function_path.h"
#include "tracing_core/model/metadata.h"

namespace tracing::inline v1::internal {

// What can be wrong with a statement; the macros turn each into a sentence.
enum class Mistake : std::uint8_t {
  none,
  unclear_arguments,  // commas could not be told apart
  too_many_arguments,
  name_needed,     // neither a name nor a kv
  literal_needed,  // kv or target without a plain literal
  not_recordable,
  unmatched_brace,
  no_such_argument,  // `{3}` of two
  no_such_field,     // `{n}` without a field n
  mixed_numbering,   // `{}` and `{0}` in one message
  wrong_spec,        // `{:d}` for text
};

struct ParsedHole {
  std::uint32_t offset = 0;  // in the unescaped literal
  std::uint16_t spec_begin = 0;
  std::uint16_t spec_end = 0;
  std::uint8_t value_index = 0;
  std::uint8_t nested_count = 0;
  std::uint8_t nested[2] = {};  // the values that give width and precision
};

struct ParsedField {
  std::uint16_t begin = 0;  // in the argument text, as written: `this->` gone, but `->` still in it
  std::uint16_t end = 0;
  std::uint8_t value_index = 0;
  std::uint8_t argument = 0;  // which argument it is: for those whose name is a constant
};

// What the macro hands over: all of it literals.
struct StatementText {
  char const* arguments;  // of the macro, stringised
  std::size_t arguments_size;
  char const* function;  // __PRETTY_FUNCTION__
  std::size_t function_size;
  char const* file;
  std::string_view name;    // of a span; empty: the function's own
  std::string_view target;  // TRACE_TARGET, else empty
  char const* message;      // of an event, else null
  std::size_t message_size;
  std::size_t skipped;  // leading arguments that are neither values nor controls: level, name, message
};

// A statement's text, taken apart; the arrays follow in ParsedStatement.
struct StatementOutline {
  StatementText text{};
  ArgumentInfo const* arguments = nullptr;
  FunctionPath path{};
  std::string_view name{};
  std::string_view target{};  // where it is not the function's
  std::size_t characters = 0;
  std::uint32_t literal_size = 0;
  std::uint8_t field_count = 0;  // without the message
  std::uint8_t hole_count = 0;
  std::uint8_t value_count = 0;
  Mistake mistake = Mistake::none;
  std::uint8_t mistaken_argument = 0;  // from 1, behind level, name and message

  constexpr void fail(Mistake what, std::size_t argument = 0) noexcept {
    if (mistake != Mistake::none) return;
    mistake = what;
    mistaken_argument = static_cast<std::uint8_t>(argument);
  }
};

inline constexpr std::string_view kMessageName = "message";

// At least as many holes as there may be: each argument once, and some twice.
constexpr std::size_t most_holes(std::size_t arguments) noexcept { return arguments == 0 ? 0 : arguments + 8; }

template <std::size_t kArguments>
struct ParsedStatement : StatementOutline {
  ParsedField fields[kArguments + 1] = {};
  ParsedHole holes[most_holes(kArguments) + 1] = {};
};

// An argument that is a value, as the message sees it.
struct ParsedValue {
  std::uint16_t begin = 0;
  std::uint16_t end = 0;
  std::uint8_t argument = 0;
  bool is_named = false;  // by kv: a field even where the message uses it
  bool is_used = false;   // by the message, by place
};

// Whether `written` is `name`: to the letter, or with `->` for a dot.
constexpr bool same_name(std::string_view written, bool to_the_letter, std::string_view name) noexcept {
  std::size_t k = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    char c = written[i];
    if (c == '-' && !to_the_letter) {
      c = '.';
      ++i;
    }
    if (k == name.size() || name[k++] != c) return false;
  }
  return k == name.size();
}

constexpr std::size_t next_brace(char const* text, std::size_t i, std::size_t size) noexcept {
#if defined(__clang__)
  return find_char(text, i, find_char(text, i, size, '{'), '}');
#else
  while (i < size && text[i] != '{' && text[i] != '}') ++i;
  return i;
#endif
}

// Finds holes, `{{` and `}}` in a message.
class MessageParser {
 public:
  constexpr MessageParser(StatementOutline& out, ParsedHole* holes, std::size_t most_holes,
                          ParsedValue* values) noexcept
      : out_(out), holes_(holes), values_(values), most_holes_(most_holes) {}

  constexpr void parse() noexcept {
    char const* const text = out_.text.message;
    std::size_t const size = out_.text.message_size;
    std::size_t skipped = 0;
    for (std::size_t i = next_brace(text, 0, size); i < size; i = next_brace(text, i, size)) {
      char const c = text[i];
      if (i + 1 < size && text[i + 1] == c) {
        ++skipped;
        i += 2;
      } else if (c == '}') {
        return out_.fail(Mistake::unmatched_brace);
      } else {
        std::size_t const behind = hole(i + 1, i - skipped);
        if (out_.mistake != Mistake::none) return;
        skipped += behind - i;
        i = behind;
      }
    }
    out_.literal_size = static_cast<std::uint32_t>(size - skipped);
  }

 private:
  enum class Numbering : std::uint8_t { unknown, automatic, manual };

  // `i` is behind the opening brace; returns the index behind the closing one.
  constexpr std::size_t hole(std::size_t i, std::size_t offset) noexcept {
    char const* const text = out_.text.message;
    std::size_t const size = out_.text.message_size;
    std::size_t const begin = i;
    while (i < size && text[i] != '}' && text[i] != ':' && text[i] != '{') ++i;
    if (i >= size || text[i] == '{') return fail(Mistake::unmatched_brace);
    ParsedHole hole;
    hole.offset = static_cast<std::uint32_t>(offset);
    hole.value_index = argument({text + begin, i - begin});
    if (text[i] == ':') i = specification(i + 1, hole);
    if (out_.mistake != Mistake::none) return i;
    if (out_.hole_count == most_holes_) return fail(Mistake::too_many_arguments);
    holes_[out_.hole_count++] = hole;
    return i + 1;
  }

  // Returns the index of the closing brace.
  constexpr std::size_t specification(std::size_t i, ParsedHole& hole) noexcept {
    char const* const text = out_.text.message;
    std::size_t const size = out_.text.message_size;
    hole.spec_begin = static_cast<std::uint16_t>(i);
    while (i < size && text[i] != '}') {
      if (text[i] == '{') {
        std::size_t const begin = ++i;
        while (i < size && text[i] != '}') ++i;
        if (i >= size) return fail(Mistake::unmatched_brace);
        nested(hole, argument({text + begin, i - begin}));
        if (out_.mistake != Mistake::none) return i;
      }
      ++i;
    }
    if (i >= size) return fail(Mistake::unmatched_brace);
    hole.spec_end = static_cast<std::uint16_t>(i);
    if (out_.mistake != Mistake::none) return i;
    std::uint8_t const at = values_[hole.value_index].argument;
    if (!spec_fits({text + hole.spec_begin, i - hole.spec_begin}, out_.arguments[at].format)) {
      out_.fail(Mistake::wrong_spec, std::size_t{at} + 1);
    }
    return i;
  }

  constexpr void nested(ParsedHole& hole, std::uint8_t value_index) noexcept {
    if (out_.mistake != Mistake::none) return;
    std::uint8_t const at = values_[value_index].argument;
    bool const fits = out_.arguments[at].format == FormatAs::integer && hole.nested_count < 2;
    if (!fits) return out_.fail(Mistake::wrong_spec, std::size_t{at} + 1);
    hole.nested[hole.nested_count++] = value_index;
  }

  constexpr std::size_t fail(Mistake mistake) noexcept {
    out_.fail(mistake);
    return out_.text.message_size;
  }

  // The value that `{}`, `{2}` or `{name}` means; marks it as used where it is not meant by name.
  constexpr std::uint8_t argument(std::string_view id) noexcept {
    if (id.empty() || (id[0] >= '0' && id[0] <= '9')) return numbered(id);
    for (std::uint8_t i = 0; i < out_.value_count; ++i) {
      ParsedValue const& value = values_[i];
      ArgumentInfo const& traits = out_.arguments[value.argument];
      std::string_view const written(out_.text.arguments + value.begin, std::size_t(value.end) - value.begin);
      if (traits.kind == ArgumentKind::constant_name ? traits.name == id : same_name(written, value.is_named, id)) return i;
    }
    fail(Mistake::no_such_field);
    return 0;
  }

  constexpr std::uint8_t numbered(std::string_view id) noexcept {
    Numbering const wanted = id.empty() ? Numbering::automatic : Numbering::manual;
    if (numbering_ == Numbering::unknown) numbering_ = wanted;
    std::size_t index = 0;
    for (char c : id) {
      if (!is_digit(c)) return fail(Mistake::no_such_field), std::uint8_t{0};
      if (index > kMaxArguments) break;
      index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    if (id.empty()) index = next_++;
    if (numbering_ != wanted) out_.fail(Mistake::mixed_numbering);
    if (index >= out_.value_count) out_.fail(Mistake::no_such_argument);
    if (out_.mistake != Mistake::none) return 0;
    values_[index].is_used = true;
    return static_cast<std::uint8_t>(index);
  }

  StatementOutline& out_;
  ParsedHole* holes_;
  ParsedValue* values_;
  std::size_t most_holes_;
  std::size_t next_ = 0;
  Numbering numbering_ = Numbering::unknown;
};

// Tells values from controls and finds their names. `values` has room for each argument.
constexpr void parse_values(StatementOutline& out, ArgumentRange const* ranges, std::size_t count,
                            ParsedValue* values) noexcept {
  char const* const text = out.text.arguments;
  for (std::size_t i = 0; i < count; ++i) {
    ArgumentInfo const& traits = out.arguments[i];
    ArgumentRange range = ranges[i + out.text.skipped];
    if (traits.kind == ArgumentKind::parent) continue;
    if (traits.kind == ArgumentKind::target || traits.kind == ArgumentKind::key_value) {
      range = quoted_name(text, range);
      if (range.end == 0) out.fail(Mistake::literal_needed, i + 1);
    }
    if (traits.kind == ArgumentKind::target) {
      out.target = {text + range.begin, std::size_t(range.end) - range.begin};
      continue;
    }
    if (!traits.is_recordable) out.fail(Mistake::not_recordable, i + 1);
    if (traits.kind == ArgumentKind::value) range = plain_name(text, range);
    values[out.value_count++] = {range.begin, range.end, static_cast<std::uint8_t>(i),
                                 traits.kind != ArgumentKind::value, false};
  }
}

// Values that the message does not use become fields.
constexpr void parse_fields(StatementOutline& out, ParsedValue const* values, ParsedField* fields) noexcept {
  for (std::uint8_t i = 0; i < out.value_count; ++i) {
    ParsedValue const& value = values[i];
    if (value.is_used && !value.is_named) continue;
    ArgumentInfo const& traits = out.arguments[value.argument];
    bool const is_constant = traits.kind == ArgumentKind::constant_name;
    if (value.end == 0 && !is_constant) out.fail(Mistake::name_needed, std::size_t{value.argument} + 1);
    out.characters += is_constant ? traits.name.size() : std::size_t(value.end) - value.begin;
    fields[out.field_count++] = {value.begin, value.end, i, value.argument};
  }
}

// A nested `{}` is written with its number, which has at most two digits.
constexpr std::size_t spec_room(ParsedHole const& hole) noexcept {
  return std::size_t(hole.spec_end) - hole.spec_begin + std::size_t{2} * hole.nested_count;
}

template <class Types>
consteval ParsedStatement<Types::kCount> parse_statement(StatementText const& text) noexcept {
  constexpr std::size_t kArguments = Types::kCount;
  ParsedStatement<kArguments> out;
  out.text = text;
  out.arguments = Types::kInfo;
  if (kArguments + 3 > kMaxArguments) return out.fail(Mistake::too_many_arguments), out;
  ArgumentRange ranges[kArguments + 3] = {};
  if (!split_arguments(text.arguments, text.arguments_size, ranges, kArguments + text.skipped)) {
    return out.fail(Mistake::unclear_arguments), out;
  }
  ParsedValue values[kArguments + 1] = {};
  parse_values(out, ranges, kArguments, values);
  if (text.message != nullptr) {
    MessageParser(out, out.holes, most_holes(kArguments), values).parse();
    out.characters += kMessageName.size();
  }
  parse_fields(out, values, out.fields);

  out.path = parse_function(text.function, text.function_size);
  out.name = !text.name.empty() ? text.name : out.path.function();
  if (out.target.empty()) out.target = text.target;
  if (out.target.empty() && out.path.target_size() == 0) out.target = file_stem(text.file);
  out.characters += out.name.size() + out.path.function().size() + out.literal_size;
  out.characters += out.target.empty() ? out.path.target_size() : out.target.size();
  for (std::size_t i = 0; i < out.hole_count; ++i) out.characters += spec_room(out.holes[i]);
  return out;
}

// Writes names and literal one behind the other, and where each ends.
class MetadataWriter {
 public:
  constexpr MetadataWriter(StatementOutline const& in, char* text) noexcept : in_(in), text_(text) {}

  constexpr MetadataParts write(ParsedField const* fields, ParsedHole const* holes, FieldEntry* field_entries,
                                MessageHole* hole_entries) noexcept {
    MetadataParts parts;
    parts.text = text_;
    parts.fields = field_entries;
    parts.holes = hole_entries;
    parts.file = in_.text.file;
    parts.name_size = add(in_.name.data(), in_.name.size());
    parts.target_size = in_.target.empty() ? add_path() : add(in_.target.data(), in_.target.size());
    parts.function_size = add(in_.path.function().data(), in_.path.function().size());
    if (in_.text.message != nullptr) {
      parts.has_message = true;
      parts.message_size = add_message();
      *field_entries++ = {end_, add(kMessageName.data(), kMessageName.size()) & 0xffffff, kMessageValue};
    }
    for (std::size_t i = 0; i < in_.field_count; ++i) field_entries[i] = entry(fields[i]);
    for (std::size_t i = 0; i < in_.hole_count; ++i) hole_entries[i] = entry(holes[i]);
    parts.field_count = static_cast<std::uint8_t>(in_.field_count + (parts.has_message ? 1 : 0));
    parts.hole_count = in_.hole_count;
    parts.value_count = in_.value_count;
    return parts;
  }

 private:
  constexpr std::uint32_t add(char const* piece, std::size_t size) noexcept {
#if defined(__clang__)
    if (size > 0) __builtin_memcpy(text_ + end_, piece, size);
#else
    char* to = text_ + end_;
    for (std::size_t left = size; left > 0; --left) *to++ = *piece++;
#endif
    end_ += static_cast<std::uint32_t>(size);
    return static_cast<std::uint32_t>(size);
  }

  constexpr std::uint32_t add_path() noexcept {
    std::uint32_t const begin = end_;
    for (std::size_t i = 0; i < in_.path.target_parts(); ++i) {
      if (i > 0) add("::", 2);
      add(in_.path.part(i).data(), in_.path.part(i).size());
    }
    return end_ - begin;
  }

  constexpr FieldEntry entry(ParsedField const& field) noexcept {
    std::uint32_t const begin = end_;
    ArgumentInfo const& traits = in_.arguments[field.argument];
    if (traits.kind == ArgumentKind::constant_name) {
      add(traits.name.data(), traits.name.size());
    } else if (traits.kind == ArgumentKind::key_value) {
      add(in_.text.arguments + field.begin, std::size_t(field.end) - field.begin);
    } else {
      for (std::size_t i = field.begin; i < field.end;) {
        std::size_t const arrow = find_char(in_.text.arguments, i, field.end, '-');
        add(in_.text.arguments + i, arrow - i);
        if (arrow < field.end) text_[end_++] = '.';
        i = arrow + 2;
      }
    }
    return {begin, (end_ - begin) & 0xffffff, field.value_index};
  }

  constexpr MessageHole entry(ParsedHole const& hole) noexcept {
    std::uint32_t const begin = end_;
    std::size_t nested = 0;
    for (std::size_t i = hole.spec_begin; i < hole.spec_end; ++i) {
      char const c = in_.text.message[i];
      text_[end_++] = c;
      if (c != '{') continue;
      std::uint8_t const index = hole.nested[nested++];
      if (index >= 10) text_[end_++] = static_cast<char>('0' + index / 10);
      text_[end_++] = static_cast<char>('0' + index % 10);
      while (in_.text.message[i + 1] != '}') ++i;
    }
    return {hole.offset, begin, static_cast<std::uint16_t>(end_ - begin), hole.value_index};
  }

  static constexpr std::size_t behind_hole(char const* text, std::size_t i) noexcept {
    for (std::size_t depth = 0;; ++i) {
      if (text[i] == '{') ++depth;
      if (text[i] == '}' && --depth == 0) return i + 1;
    }
  }

  // The literal without its holes, `{{` and `}}` as one brace. The message is known to be well-formed.
  constexpr std::uint32_t add_message() noexcept {
    std::uint32_t const begin = end_;
    char const* const text = in_.text.message;
    std::size_t const size = in_.text.message_size;
    for (std::size_t i = 0; i < size;) {
      std::size_t const brace = next_brace(text, i, size);
      add(text + i, brace - i);
      if (brace == size) break;
      i = brace + 2;
      if (text[brace + 1] == text[brace]) {
        text_[end_++] = text[brace];
      } else {
        i = behind_hole(text, brace);
      }
    }
    return end_ - begin;
  }

  StatementOutline const& in_;
  char* text_;
  std::uint32_t end_ = 0;
};

// By names that no program defines as macros.
inline constexpr Kind kEventKind = Kind::event;
inline constexpr Kind kSpanKind = Kind::span;

// So that few sizes of StaticMetadata exist.
constexpr std::size_t rounded_up(std::size_t characters) noexcept { return (characters + 16) / 16 * 16; }

// The metadata of one callsite together with what it points to.
template <std::size_t kFields, std::size_t kHoles, std::size_t kCharacters>
struct StaticMetadata {
  FieldEntry fields[kFields + 1] = {};
  MessageHole holes[kHoles == 0 ? 1 : kHoles] = {};
  char text[kCharacters] = {};
  Metadata metadata;

  template <class Parsed>
  constexpr StaticMetadata(Parsed const& in, Kind kind, Level level, LevelFilter most, std::uint32_t line) noexcept
      : metadata(fill(MetadataWriter(in, text).write(in.fields, in.holes, fields, holes), kind, level, most, line)) {}
  constexpr operator Metadata const&() const noexcept { return metadata; }

 private:
  static constexpr MetadataParts fill(MetadataParts parts, Kind kind, Level level, LevelFilter most,
                                      std::uint32_t line) noexcept {
    parts.kind = kind;
    parts.level = level;
    parts.max_level = most;
    parts.line = line;
    return parts;
  }
};

}  // namespace tracing::inline v1::internal
