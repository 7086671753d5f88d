// Makes a callsite's metadata at compile time from the macro's argument text and the enclosing function.
//
// The problem: a statement such as TRACE_DEBUG("moved {} bytes", n, grid.x) has to become constant data, namely the
// names of its fields, its target and function, and its message with the places of the placeholders. Only then does a
// disabled statement cost no more than a load and a branch. C++ offers a macro little to make this from: the text of
// all arguments together, `#__VA_ARGS__`, their types, and the signature of the enclosing function,
// `__PRETTY_FUNCTION__`.
//
// The idea: parse first, write second. parse_statement() reads the text and returns a ParsedStatement. It holds the
// place of each value, field and placeholder in the text, the number of characters that the metadata will need, and the
// number of the first mistake. The macro has a static_assert for each mistake, so that the compiler's error is a
// sentence about the statement. The macro then passes the sizes as a template argument to StaticMetadata, whose
// constructor lets a MetadataWriter copy all names into one array of characters. Two steps are needed because the size
// of a constant object must be known before the object is made.
//
// The invariant: parse_statement() counts at least as many characters as MetadataWriter writes. Whoever writes more has
// to count more, in parse_fields(), in MessageParser or at the end of parse_statement(). A miscount cannot damage a
// program: the compiler refuses a constant expression that writes beyond an array. The count must be sufficient even
// after a mistake, because a failed static_assert does not keep the compiler from making the metadata, and an error
// about an array would hide the sentence.
//
// The cost: the compiler interprets all this for every statement of a program. So the code first tests what is true of
// most statements, such as an argument that is a plain name. It searches with the few C functions that compilers
// evaluate in one step, see argument_text.h. Its arrays are no longer than the number of arguments requires. Types come
// as values, ArgumentInfo, so there is one instance for each number of arguments; a parser that is a template of the
// arguments' types was rejected, because the compiler had to compile all of it for each new mix of types. If only the
// message uses an argument, the argument's text is not copied: its entry points into the statement's own literal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/emit/argument_text.h"
#include "tracing_core/emit/arguments.h"
#include "tracing_core/emit/function_path.h"
#include "tracing_core/emit/message_parser.h"
#include "tracing_core/emit/statement.h"
#include "tracing_core/model/metadata.h"

namespace tracing { inline namespace v1 { namespace internal {

// Separates values from controls and finds the names of values. `values` has room for each argument.
constexpr void parse_values(StatementOutline& out, ArgumentRange const* ranges, std::size_t count,
                            ParsedValue* values) noexcept {
  char const* const text = out.text.arguments;
  for (std::size_t i = 0; i < count; ++i) {
    ArgumentInfo const& traits = out.arguments[i];
    ArgumentRange range = ranges[i + out.text.skipped];
    bool is_name = false;
    bool is_named = false;
    if (traits.kind == ArgumentKind::value) {  // tested first, because most arguments are values
      ArgumentRange const name = plain_name(text, range);
      is_name = name.end > 0;
      if (is_name) range = name;
    } else {
      if (traits.kind == ArgumentKind::parent) continue;
      if (traits.kind == ArgumentKind::threshold) {
        bool const measures = out.text.kind.is_perf && out.text.kind.kind == Kind::span && !out.text.kind.is_handle;
        if (!measures) out.fail(Mistake::misplaced_threshold);
        continue;
      }
      if (traits.kind == ArgumentKind::constant_name) {
        range = {0, static_cast<std::uint16_t>(traits.name.size())};
      } else {
        range = quoted_name(text, range);
        if (range.end == 0) out.fail(Mistake::literal_needed);
      }
      if (traits.kind == ArgumentKind::target) {
        out.target = {text + range.begin, std::size_t(range.end) - range.begin};
        continue;
      }
      is_name = is_named = true;
    }
    if (!traits.is_recordable) out.fail(Mistake::not_recordable, i + 1);
    values[out.value_count++] = {range.begin, range.end, static_cast<std::uint8_t>(i), is_name, is_named, false};
  }
}

// Makes fields of the values that the message does not use, and of values named by kv(). The other values follow the
// fields, in reverse order.
constexpr void parse_fields(StatementOutline& out, ParsedValue const* values, ParsedField* fields) noexcept {
  ParsedField* unnamed = fields + out.value_count;
  for (std::uint8_t i = 0; i < out.value_count; ++i) {
    ParsedValue const& value = values[i];
    if (value.is_used && !value.is_named) {
      *--unnamed = {value.begin, value.end, i, value.argument};
      continue;
    }
    if (!value.is_name) out.fail(Mistake::name_needed, std::size_t{value.argument} + 1);
    out.characters += std::size_t(value.end) - value.begin;
    fields[out.field_count++] = {value.begin, value.end, i, value.argument};
  }
}

constexpr std::string_view name_of(StatementOutline const& out, ParsedField const& field) noexcept {
  ArgumentInfo const& traits = out.arguments[field.argument];
  if (traits.kind == ArgumentKind::constant_name) return traits.name;
  return {out.text.arguments + field.begin, std::size_t(field.end) - field.begin};
}

constexpr void check_names(StatementOutline& out, ParsedField const* fields) noexcept {
  for (std::size_t i = 1; i < out.field_count; ++i) {
    int const size = fields[i].end - fields[i].begin;
    for (std::size_t k = 0; k < i; ++k) {
      if (fields[k].end - fields[k].begin != size) continue;
      if (name_of(out, fields[k]) == name_of(out, fields[i])) out.fail(Mistake::duplicate_name);
    }
  }
}

// Returns the room that name, function and target need.
constexpr std::size_t room_for_names(StatementOutline const& out) noexcept {
#if defined(__CUDACC__) && defined(__NVCC__)
  // nvcc passes its own result to the host compiler, but the two compilers spell functions differently.
  return 256 + (out.name.data() == out.path.function.data() ? 0 : out.name.size());
#else
  return out.name.size() + out.path.function.size() + (out.target.empty() ? out.path.target_size : out.target.size());
#endif
}

// Parses a statement. The template is instantiated for each number of arguments, not for each list of their types: the
// types come as values.
template <std::size_t kArguments>
consteval ParsedStatement<kArguments> parse_statement(StatementText const& text, ArgumentInfo const* arguments,
                                                      bool has_only_numbers) noexcept {
  ParsedStatement<kArguments> out;
  out.text = text;
  out.arguments = arguments;
  out.has_only_numbers = has_only_numbers;
  if (kArguments + 3 > kMaxArguments) return out.fail(Mistake::too_many_arguments), out;
  ArgumentRange ranges[kArguments + 3] = {};
  if (!split_arguments(text.arguments, text.arguments_size, ranges, kArguments + text.skipped))
    return out.fail(Mistake::unclear_arguments), out;
  ParsedValue values[kArguments + 1] = {};
  parse_values(out, ranges, kArguments, values);
  if (text.message != nullptr) MessageParser(out, out.placeholders, max_placeholders(kArguments), values).parse();
  parse_fields(out, values, out.fields);
  check_names(out, out.fields);

  out.path = parse_function(text.function, text.function_size);
  out.name = text.name[0] != '\0' ? std::string_view(text.name, __builtin_strlen(text.name)) : out.path.function;
  if (out.target.empty()) {
    if (text.target[0] != '\0') {
      out.target = text.target;
    } else {
      out.target = out.path.target_size > 0 ? out.path.target : file_stem(text.file);
    }
  }
  out.characters += out.literal_size + room_for_names(out);
  if (out.mistake != Mistake::none)
    out.characters += text.message_size;             // the message may not have been parsed, but
                                                     // is copied
  out.characters = (out.characters + 16) / 16 * 16;  // rounded, so that there are few sizes of
                                                     // StaticMetadata
  return out;
}

// Does what name_needs_escaping() does, for names given as literals; names taken from source code never need escaping.
constexpr bool literal_needs_escaping(char const* name) noexcept {
#if TRACING_INTERNAL_SEARCHES_ == 1
  return name[__builtin_strspn(name,
                               " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
                               "abcdefghijklmnopqrstuvwxyz{|}~")] != '\0';
#else
  return name_needs_escaping({name, __builtin_strlen(name)});
#endif
}

// Writes names and message one after the other, and stores where each ends.
class MetadataWriter {
 public:
  constexpr MetadataWriter(StatementOutline const& in, char* text) noexcept : in_(in), text_(text) {}

  constexpr MetadataParts write(ParsedField const* fields, ParsedPlaceholder const* placeholders,
                                FieldEntry* field_entries, MessagePlaceholder* placeholder_entries) noexcept {
    MetadataParts parts;
    parts.kind = in_.text.kind.kind;
    parts.is_perf = in_.text.kind.is_perf;
    parts.is_annotation = in_.text.kind.is_annotation;
    parts.level = in_.text.level;
    parts.max_level = in_.text.max_level;
    parts.line = in_.text.line;
    parts.text = text_;
    parts.fields = field_entries;
    parts.placeholders = placeholder_entries;
    parts.file = in_.text.file;
    bool const has_literal_name = parts.kind == Kind::span;
    parts.has_names_to_escape =
        literal_needs_escaping(in_.text.target) || (has_literal_name && literal_needs_escaping(in_.text.name));
    parts.name_size = add(in_.name.data(), in_.name.size());
    parts.target_size = in_.target.empty() ? add_path() : add(in_.target.data(), in_.target.size());
    parts.function_size = add(in_.path.function.data(), in_.path.function.size());
    if (in_.text.message != nullptr) {
      parts.has_message = true;
      parts.message_size = add_message();
      *field_entries++ = {0, 0, true, kMessageValue};
    }
    for (std::size_t i = 0; i < in_.field_count; ++i) field_entries[i] = entry(fields[i]);
    if (has_arrow_) mark_repeated_names(field_entries, in_.field_count, text_);
    for (std::size_t i = in_.field_count; i < in_.value_count; ++i) field_entries[i] = text_of(fields[i]);
    for (std::size_t i = 0; i < in_.placeholder_count; ++i) placeholder_entries[i] = entry(placeholders[i]);
    parts.field_count = static_cast<std::uint8_t>(in_.field_count + (parts.has_message ? 1 : 0));
    parts.placeholder_count = in_.placeholder_count;
    parts.unnamed_count = static_cast<std::uint8_t>(in_.value_count - in_.field_count);
    parts.value_count = in_.value_count;
    if (parts.unnamed_count > 0) parts.arguments = in_.text.arguments;
    if (in_.has_only_numbers) parts.numbers_size = static_cast<std::uint16_t>(in_.value_count * sizeof(Value));
    return parts;
  }

 private:
  constexpr std::uint32_t add(char const* piece, std::size_t size) noexcept {
#if defined(__clang__)
    if (size > 0) __builtin_memcpy(text_ + end_, piece, size);
#else
    char* to = text_ + end_;
    std::size_t left = size;
    for (; left >= 4; left -= 4, to += 4, piece += 4) {  // one step of the loop costs as much as one character
      to[0] = piece[0];
      to[1] = piece[1];
      to[2] = piece[2];
      to[3] = piece[3];
    }
    if (left >= 2) {
      to[0] = piece[0];
      to[1] = piece[1];
    }
    if (left == 1 || left == 3) to[left - 1] = piece[left - 1];
#endif
    end_ += static_cast<std::uint32_t>(size);
    return static_cast<std::uint32_t>(size);
  }

  constexpr std::uint32_t add_path() noexcept {
    std::uint32_t const begin = end_;
    PathParts const path = parse_parts(in_.text.function, in_.text.function_size);
    for (std::size_t i = 0; i < path.target_parts(); ++i) {
      if (i > 0) add("::", 2);
      add(path.part(i).data(), path.part(i).size());
    }
    return end_ - begin;
  }

  // Adds the name of a variable or a member, with a dot in place of `->`.
  constexpr void add_name(char const* text, std::size_t begin, std::size_t end) noexcept {
    for (std::size_t i = begin; i < end;) {
      std::size_t const arrow = find_char(text, i, end, '-');
      add(text + i, arrow - i);
      if (arrow == end) return;
      bool const is_arrow = text[arrow + 1] == '>';
      has_arrow_ |= is_arrow;
      text_[end_++] = is_arrow ? '.' : '-';
      i = arrow + (is_arrow ? 2 : 1);
    }
  }

  constexpr FieldEntry entry(ParsedField const& field) noexcept {
    std::uint32_t const begin = end_;
    ArgumentInfo const& traits = in_.arguments[field.argument];
    if (traits.kind == ArgumentKind::constant_name) {
      add(traits.name.data(), traits.name.size());
    } else if (traits.kind == ArgumentKind::key_value) {
      add(in_.text.arguments + field.begin, std::size_t(field.end) - field.begin);
    } else {
      add_name(in_.text.arguments, field.begin, field.end);
    }
    return field_entry(begin, text_ + begin, end_ - begin, field.value_index);
  }

  // Describes a value without a name by its expression: a range of the statement's text.
  static constexpr FieldEntry text_of(ParsedField const& field) noexcept {
    std::uint32_t const size = std::uint32_t{field.end} - field.begin;
    return {field.begin, size & 0x7fffff, false, field.value_index};
  }

  constexpr MessagePlaceholder entry(ParsedPlaceholder const& placeholder) noexcept {
    std::uint32_t const begin = end_;
    std::size_t nested = 0;
    for (std::size_t i = placeholder.spec_begin; i < placeholder.spec_end; ++i) {
      char const c = in_.text.message[i];
      text_[end_++] = c;
      if (c != '{') continue;
      std::uint8_t const index = placeholder.nested[nested++];
      if (index >= 10) text_[end_++] = static_cast<char>('0' + index / 10);
      text_[end_++] = static_cast<char>('0' + index % 10);
      while (in_.text.message[i + 1] != '}') ++i;
    }
    return {placeholder.offset, begin, static_cast<std::uint16_t>(end_ - begin), placeholder.value_index,
            placeholder.is_own};
  }

  static constexpr std::size_t after_placeholder(char const* text, std::size_t i) noexcept {
    for (std::size_t depth = 0;; ++i) {
      if (text[i] == '{') ++depth;
      if (text[i] == '}' && --depth == 0) return i + 1;
    }
  }

  // Adds the literal without its placeholders, with `{{` and `}}` as one brace. Expects a well-formed message.
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
        i = after_placeholder(text, brace);
      }
    }
    return end_ - begin;
  }

  StatementOutline const& in_;
  char* text_;
  std::uint32_t end_ = 0;
  bool has_arrow_ = false;
};

// No program defines these names as macros, as it might define EVENT.
inline constexpr StatementKind kEventKind = {.kind = Kind::event};
inline constexpr StatementKind kSpanKind = {.kind = Kind::span};
inline constexpr StatementKind kPerfEventKind = {.kind = Kind::event, .is_perf = true};
inline constexpr StatementKind kPerfSpanKind = {.kind = Kind::span, .is_perf = true};
inline constexpr StatementKind kPerfHandleKind = {.kind = Kind::span, .is_perf = true, .is_handle = true};
inline constexpr StatementKind kAnnotationKind = {.kind = Kind::span, .is_annotation = true};

// The metadata of one callsite and the data that it points to.
template <MetadataSizes kSizes>
struct StaticMetadata {
  FieldEntry fields[kSizes.fields + 1] = {};
  MessagePlaceholder placeholders[kSizes.placeholders == 0 ? 1 : kSizes.placeholders] = {};
  char text[kSizes.characters] = {};
  Metadata metadata;

  template <class Parsed>
  constexpr StaticMetadata(Parsed const& in) noexcept
      : metadata(MetadataWriter(in, text).write(in.fields, in.placeholders, fields, placeholders)) {}
  constexpr operator Metadata const&() const noexcept { return metadata; }
};

}}}  // namespace tracing::v1::internal
