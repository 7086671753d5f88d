// Declares how a callsite's metadata is made at compile time from the macro's argument text and the enclosing function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/emit/argument_text.h"
#include "tracing_core/emit/arguments.h"
#include "tracing_core/emit/function_path.h"
#include "tracing_core/model/metadata.h"

namespace tracing::inline v1::internal {

// What can be wrong with a statement; the macros turn each into a sentence.
enum class Mistake : std::uint8_t {
  none,
  unclear_arguments,   // commas could not be told apart
  too_many_arguments,
  name_needed,         // neither a name nor a kv
  literal_needed,      // kv or target without a plain literal
  not_recordable,
  message_not_literal,
  unmatched_brace,
  no_such_argument,    // `{3}` of two
  no_such_field,       // `{n}` without a field n
  mixed_numbering,     // `{}` and `{0}` in one message
};

struct ParsedHole {
  std::uint32_t offset = 0;  // in the unescaped literal
  std::uint16_t spec_begin = 0;
  std::uint16_t spec_end = 0;
  std::uint8_t value_index = 0;
};

struct ParsedField {
  std::string_view name{};  // as written: `this->` gone, but `->` still in it
  std::uint8_t value_index = 0;
};

inline constexpr std::size_t kMaxHoles = 32;

// A statement's text, taken apart.
struct ParsedStatement {
  Mistake mistake = Mistake::none;
  std::uint8_t mistaken_argument = 0;  // from 1
  bool has_message = false;
  bool has_spec = false;
  std::size_t field_count = 0;
  std::size_t hole_count = 0;
  std::size_t value_count = 0;
  std::size_t literal_size = 0;
  std::size_t characters = 0;
  std::string_view name{};
  std::string_view target{};  // where the statement says it itself
  std::string_view message{};
  FunctionPath path{};
  ParsedField fields[kMaxArguments + 1] = {};
  ParsedHole holes[kMaxHoles] = {};
  bool used_by_message[kMaxArguments] = {};
};

constexpr std::size_t dotted_size(std::string_view name) noexcept {
  std::size_t size = name.size();
  for (char c : name) size -= c == '-' ? 1 : 0;
  return size;
}

constexpr bool same_dotted(std::string_view written, std::string_view name) noexcept {
  std::size_t k = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    char c = written[i];
    if (c == '-' && i + 1 < written.size() && written[i + 1] == '>') c = '.', ++i;
    if (k == name.size() || name[k++] != c) return false;
  }
  return k == name.size();
}

// Finds holes, `{{` and `}}` in a message. Values are the statement's arguments after the message.
class MessageParser {
 public:
  constexpr MessageParser(ParsedStatement& out, std::size_t value_count, std::string_view const* value_names) noexcept
      : out_(out), value_count_(value_count), value_names_(value_names) {}

  constexpr void parse() noexcept {
    std::string_view const text = out_.message;
    for (std::size_t i = 0; i < text.size();) {
      char const c = text[i];
      if (c != '{' && c != '}') {
        ++out_.literal_size;
        ++i;
      } else if (i + 1 < text.size() && text[i + 1] == c) {
        ++out_.literal_size;
        i += 2;
      } else if (c == '}') {
        return fail(Mistake::unmatched_brace);
      } else {
        i = hole(i + 1);
      }
      if (out_.mistake != Mistake::none) return;
    }
  }

 private:
  constexpr void fail(Mistake mistake) noexcept { out_.mistake = mistake; }

  // `i` is behind the opening brace; returns the index behind the closing one.
  constexpr std::size_t hole(std::size_t i) noexcept {
    std::string_view const text = out_.message;
    std::size_t const end_of_name = text.find_first_of(":{}", i);
    if (end_of_name == std::string_view::npos || text[end_of_name] == '{') return fail(Mistake::unmatched_brace), i;
    ParsedHole hole;
    hole.offset = static_cast<std::uint32_t>(out_.literal_size);
    hole.value_index = argument(text.substr(i, end_of_name - i));
    i = end_of_name;
    if (text[i] == ':') {
      hole.spec_begin = static_cast<std::uint16_t>(++i);
      while (i < text.size() && text[i] != '}') {
        if (text[i] == '{') {
          std::size_t const close = text.find('}', i);
          if (close == std::string_view::npos) return fail(Mistake::unmatched_brace), i;
          argument(text.substr(i + 1, close - i - 1));
          i = close;
        }
        ++i;
      }
      if (i >= text.size()) return fail(Mistake::unmatched_brace), i;
      hole.spec_end = static_cast<std::uint16_t>(i);
      out_.has_spec = out_.has_spec || hole.spec_end > hole.spec_begin;
    }
    if (out_.hole_count == kMaxHoles) return fail(Mistake::too_many_arguments), i;
    out_.holes[out_.hole_count++] = hole;
    return i + 1;
  }

  // The value that `{}`, `{2}` or `{name}` means; marks it as used where it is not meant by name.
  constexpr std::uint8_t argument(std::string_view id) noexcept {
    if (id.empty() || (id[0] >= '0' && id[0] <= '9')) {
      std::size_t index = 0;
      for (char c : id) index = index * 10 + static_cast<std::size_t>(c - '0');
      Numbering const wanted = id.empty() ? Numbering::automatic : Numbering::manual;
      if (numbering_ != Numbering::unknown && numbering_ != wanted) return fail(Mistake::mixed_numbering), std::uint8_t{0};
      numbering_ = wanted;
      if (id.empty()) index = next_++;
      if (index >= value_count_) return fail(Mistake::no_such_argument), std::uint8_t{0};
      out_.used_by_message[index] = true;
      return static_cast<std::uint8_t>(index);
    }
    for (std::size_t i = 0; i < value_count_; ++i) {
      if (same_dotted(value_names_[i], id)) return static_cast<std::uint8_t>(i);
    }
    return fail(Mistake::no_such_field), std::uint8_t{0};
  }

  enum class Numbering : std::uint8_t { unknown, automatic, manual };

  ParsedStatement& out_;
  std::size_t value_count_;
  std::string_view const* value_names_;
  std::size_t next_ = 0;
  Numbering numbering_ = Numbering::unknown;
};

struct StatementText {
  char const* arguments;  // of the macro, stringised
  std::size_t arguments_size;
  char const* function;  // __PRETTY_FUNCTION__
  std::size_t function_size;
  std::string_view file;
  std::string_view name;     // of a span; empty: the function's own
  std::string_view target;   // TRACE_TARGET, else empty
  char const* message;       // of an event, else null
  std::size_t message_size;
  std::size_t skipped_arguments;  // leading arguments that are neither values nor controls: level, name, message
};

constexpr bool starts_like_literal(std::string_view text) noexcept {
  return !text.empty() && (text[0] == '"' || text.substr(0, 2) == "R\"" || text.substr(0, 3) == "u8\"");
}

template <class Types>
consteval ParsedStatement parse_statement(StatementText const& in) noexcept {
  ParsedStatement out;
  auto fail = [&out](Mistake mistake, std::size_t argument) {
    if (out.mistake != Mistake::none) return;
    out.mistake = mistake;
    out.mistaken_argument = static_cast<std::uint8_t>(argument);
  };
  ArgumentTexts const texts = split_arguments(in.arguments, in.arguments_size, Types::kCount + in.skipped_arguments);
  if (texts.too_many || Types::kCount + in.skipped_arguments > kMaxArguments) return fail(Mistake::too_many_arguments, 0), out;
  if (texts.count != Types::kCount + in.skipped_arguments) return fail(Mistake::unclear_arguments, 0), out;

  std::string_view value_names[kMaxArguments + 1] = {};
  bool is_kv[kMaxArguments + 1] = {};
  std::size_t value_count = 0;
  for (std::size_t i = 0; i < Types::kCount; ++i) {
    ArgumentInfo const& info = Types::kInfo[i];
    std::string_view const text = texts[i + in.skipped_arguments];
    if (!info.recordable) fail(Mistake::not_recordable, i + 1);
    if (info.kind == ArgumentKind::parent) continue;
    if (info.kind == ArgumentKind::target) {
      out.target = quoted_name(text);
      if (out.target.data() == nullptr) fail(Mistake::literal_needed, i + 1);
      continue;
    }
    std::string_view& name = value_names[value_count];
    is_kv[value_count] = info.kind != ArgumentKind::value;
    if (info.kind == ArgumentKind::key_value) {
      name = quoted_name(text);
      if (name.data() == nullptr) fail(Mistake::literal_needed, i + 1);
    } else if (info.kind == ArgumentKind::constant_name) {
      name = info.name;
    } else if (is_plain_name(text)) {
      name = strip_this(text);
    }
    ++value_count;
  }
  out.value_count = value_count;

  out.has_message = in.message != nullptr;
  if (out.has_message) {
    out.message = std::string_view(in.message, in.message_size);
    MessageParser(out, value_count, value_names).parse();
    out.fields[out.field_count++] = {"message", kMessageValue};
  }
  for (std::size_t i = 0; i < value_count; ++i) {
    if (out.used_by_message[i] && !is_kv[i]) continue;
    if (value_names[i].data() == nullptr) fail(Mistake::name_needed, i + 1);
    out.fields[out.field_count++] = {value_names[i], static_cast<std::uint8_t>(i)};
  }

  out.path = parse_function(in.function, in.function_size);
  out.name = !in.name.empty() ? in.name : out.path.function();
  if (out.target.empty()) out.target = in.target;
  if (out.target.empty() && out.path.target_size() == 0) out.target = file_stem(in.file);

  out.characters = out.name.size() + out.path.function().size() + out.literal_size;
  out.characters += out.target.empty() ? out.path.target_size() : out.target.size();
  for (std::size_t i = 0; i < out.field_count; ++i) out.characters += dotted_size(out.fields[i].name);
  for (std::size_t i = 0; i < out.hole_count; ++i) out.characters += static_cast<std::size_t>(out.holes[i].spec_end - out.holes[i].spec_begin);
  return out;
}

// The metadata of one callsite together with what it points to.
template <std::size_t kFields, std::size_t kHoles, std::size_t kCharacters>
struct StaticMetadata {
  FieldEntry fields[kFields + 1] = {};
  MessageHole holes[kHoles + 1] = {};
  char text[kCharacters + 1] = {};
  Metadata metadata;

  constexpr StaticMetadata(ParsedStatement const& in, Kind kind, Level level, LevelFilter max_level, char const* file, std::uint32_t line) noexcept
      : metadata(fill(in, kind, level, max_level, file, line)) {}

 private:
  constexpr MetadataParts fill(ParsedStatement const& in, Kind kind, Level level, LevelFilter max_level, char const* file, std::uint32_t line) noexcept {
    MetadataParts parts;
    std::size_t end = 0;
    auto add = [&](std::string_view piece) {
      for (char c : piece) text[end++] = c;
      return static_cast<std::uint32_t>(piece.size());
    };
    parts.name_size = add(in.name);
    if (!in.target.empty()) {
      parts.target_size = add(in.target);
    } else {
      for (std::size_t i = 0; i < in.path.target_parts(); ++i) {
        if (i > 0) add("::");
        add(in.path.part(i));
      }
      parts.target_size = static_cast<std::uint32_t>(in.path.target_size());
    }
    parts.function_size = add(in.path.function());
    for (std::size_t i = 0; i < in.message.size(); ++i) parts.message_size += add_message_character(in, i, end);
    for (std::size_t i = 0; i < in.field_count; ++i) {
      fields[i] = {static_cast<std::uint32_t>(end), 0, in.fields[i].value_index};
      std::string_view const name = in.fields[i].name;
      for (std::size_t k = 0; k < name.size(); ++k) {
        if (name[k] == '-') text[end++] = '.', ++k;
        else text[end++] = name[k];
      }
      fields[i].size = (static_cast<std::uint32_t>(end) - fields[i].offset) & 0xffffff;
    }
    for (std::size_t i = 0; i < in.hole_count; ++i) {
      ParsedHole const& hole = in.holes[i];
      std::string_view const spec = in.message.substr(hole.spec_begin, static_cast<std::size_t>(hole.spec_end - hole.spec_begin));
      holes[i] = {hole.offset, static_cast<std::uint32_t>(end), static_cast<std::uint16_t>(spec.size()), hole.value_index};
      add(spec);
    }
    parts.text = text;
    parts.file = file;
    parts.fields = fields;
    parts.holes = holes;
    parts.line = line;
    parts.field_count = static_cast<std::uint8_t>(in.field_count);
    parts.hole_count = static_cast<std::uint8_t>(in.hole_count);
    parts.value_count = static_cast<std::uint8_t>(in.value_count);
    parts.level = level;
    parts.kind = kind;
    parts.max_level = max_level;
    parts.has_message = in.has_message;
    return parts;
  }

  // Copies the literal text of the message without its holes, `{{` and `}}` as one brace. `i` moves behind a hole.
  constexpr std::uint32_t add_message_character(ParsedStatement const& in, std::size_t& i, std::size_t& end) noexcept {
    char const c = in.message[i];
    bool const doubled = i + 1 < in.message.size() && in.message[i + 1] == c;
    if (c == '{' && !doubled) {
      std::size_t depth = 1;
      while (depth > 0) {
        ++i;
        if (in.message[i] == '{') ++depth;
        if (in.message[i] == '}') --depth;
      }
      return 0;
    }
    if (c == '{' || c == '}') ++i;
    text[end++] = c;
    return 1;
  }
};

}  // namespace tracing::inline v1::internal
