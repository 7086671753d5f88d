// Declares Directive, one rule of a filter text such as `target[span{field=value}]=level`, and how texts are read.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/filter/parse_error.h"
#include "tracing_core/filter/value_match.h"
#include "tracing_core/model/level.h"

namespace tracing::inline v1 {

/// A field that a directive asks for, and what its value must be.
struct FieldMatch {
  std::string name;
  std::optional<ValueMatch> value;  ///< none: the field only has to exist

  friend std::weak_ordering operator<=>(FieldMatch const& a, FieldMatch const& b) noexcept;
  friend bool operator==(FieldMatch const& a, FieldMatch const& b) noexcept { return (a <=> b) == 0; }
};

/// One rule: where it applies, and the most verbose level that it lets pass there.
struct Directive {
  std::optional<std::string> target;  ///< beginning of a target; none: all
  std::optional<std::string> span;    ///< name of a span; none: all
  std::vector<FieldMatch> fields;     ///< all of these
  LevelFilter level = internal::max_level_trace;

  /// Reads one directive; blanks around it do not count. Nothing and what is wrong in `error`, when given, for any
  /// other text. With `regex`, a value that is no number or boolean is a regular expression, otherwise what the value
  /// prints for debugging.
  static std::optional<Directive> parse(std::string_view text, ParseError* error = nullptr, bool regex = true);

  /// Whether the directive is decided by a callsite's metadata alone: it names no span and no value.
  bool is_static() const noexcept;
  /// Whether the directive says something about what happens inside spans: it names a span or a field.
  bool is_dynamic() const noexcept { return span.has_value() || !fields.empty(); }

  /// Appends the text that reads back as this directive, the level always written.
  void append_to(std::string& out) const;
  std::string to_string() const;
};

/// Orders by where directives apply, the most specific first: a longer target (in bytes; any before none), then one
/// with a span, then more fields, then the rest so that only directives that apply to the same are equivalent. Levels
/// do not count.
std::weak_ordering compare_specificity(Directive const& a, Directive const& b) noexcept;

/// What was found in a list of directives.
struct ParsedDirectives {
  std::vector<Directive> directives;  ///< in the order of the text
  std::vector<ParseError> errors;     ///< one for each directive that is wrong, positions in the whole text
};

/// Reads directives separated by commas. Empty ones do not count, nor do blanks around them. A comma inside `{...}`
/// does not separate directives, and inside brackets or quotes of a value it does not separate fields. Never throws but
/// for memory, and takes time linear in the text (and in what its patterns need to compile).
ParsedDirectives parse_directives(std::string_view text, bool regex = true);

}  // namespace tracing::inline v1
