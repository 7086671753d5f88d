// Directive: one rule of a filter text, such as `target[span{field=value}]=level`, and the parser of filter texts.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/filter/parse_error.h"
#include "tracing_core/filter/value_match.h"
#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 {

/// A field that a directive requires, and the value that it must have.
struct FieldMatch {
  std::string name;
  std::optional<ValueMatch> value;  ///< matches any value if empty

  friend std::weak_ordering operator<=>(FieldMatch const& a, FieldMatch const& b) noexcept;
  friend bool operator==(FieldMatch const& a, FieldMatch const& b) noexcept { return (a <=> b) == 0; }
};

/// A rule of a filter: the records that it applies to, and the most verbose level that passes.
struct Directive {
  std::optional<std::string> target;  ///< prefix of targets; all targets if there is none
  std::optional<std::string> span;    ///< name of a span; all spans if there is none
  std::vector<FieldMatch> fields;     ///< fields that are all required
  LevelFilter level = internal::max_level_trace;

  /// Parses one directive, ignoring surrounding white space. If the text is invalid, returns nothing and sets `error`,
  /// unless it is null.
  static std::optional<Directive> parse(std::string_view text, ParseError* error = nullptr,
                                        ValueSyntax syntax = ValueSyntax::text_or_regex);

  /// True if the directive requires a field to have a certain value.
  bool has_values() const noexcept;
  /// True if the metadata of a callsite alone decides: the directive names neither a span nor a value.
  bool is_static() const noexcept { return !span && !has_values(); }
  /// True if the directive applies inside of spans: it names a span or a field.
  bool is_dynamic() const noexcept { return span.has_value() || !fields.empty(); }

  /// Appends the text that parses to this directive, always with a level.
  void append_to(std::string& out) const;
  std::string to_string() const;
};

/// Orders directives by specificity, the most specific first. Compares, in this order: the length of the target in
/// bytes, where a missing target comes last; whether there is a span; the number of fields; the names and values
/// themselves. Directives that differ only in their level are equivalent.
std::weak_ordering compare_specificity(Directive const& a, Directive const& b) noexcept;

/// The result of parse_directives().
struct ParsedDirectives {
  std::vector<Directive> directives;  ///< in the order of the text
  std::vector<ParseError> errors;     ///< one for each invalid directive; positions refer to the entire text
};

/// Parses directives separated by commas. Ignores empty directives and surrounding white space. A comma inside `{...}`
/// does not separate directives, and a comma inside brackets or quotes of a value does not separate fields. Throws only
/// std::bad_alloc. Takes time linear in the text, plus the time to compile patterns. A pattern may be 4 KiB long and
/// take 2 MiB of memory, and all patterns of a text together may take 8 MiB; a pattern that exceeds a limit is an
/// error.
ParsedDirectives parse_directives(std::string_view text, ValueSyntax syntax = ValueSyntax::text_or_regex);

}}  // namespace tracing::v1
