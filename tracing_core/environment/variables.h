// Reads tables of variables from the environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tracing_core/environment/env_options.h"

namespace tracing { inline namespace v1 { namespace environment {

/// The value that is being read, and the text to which a report about it is appended.
struct VariableInput;

/// A row of a table of variables. The texts are Markdown.
struct Variable {
  char const* name;
  char const* values;  ///< the words that it takes, each in backticks, or a description
  char const* default_value;
  char const* help;
  void (*parse)(EnvOptions& options, VariableInput const& input);
};

/// A variable that a profile sets, unless the environment sets it.
struct ProfileSetting {
  char const* profile;
  char const* variable;
  char const* value;
};

struct VariableTable {
  std::span<Variable const> variables;
  std::span<ProfileSetting const> profile_settings;
};

/// The variables that every program reads, in the order of variables.inc.
VariableTable common_variables() noexcept;

/// Reads all variables into `options`, which has the defaults. `get` returns the value of a variable, or null if the
/// variable is not set. A variable that is empty or has a bad value counts as unset. Appends a line about each bad
/// value to `reports`:
/// `testlog: TRACE_FORMAT=ful: unknown value; expected one of full, compact, pretty, json (did you mean full?)`
void read_variables(std::initializer_list<VariableTable> tables, char const* (*get)(char const* name),
                    EnvOptions& options, std::string& reports);

/// Appends a line about each misspelt variable in `environment`, which has the form of environ: `testlog: TRACE_FITLER:
/// unknown variable; did you mean TRACE_FILTER?` A variable is misspelt if its name begins with TRACE_, is in no table,
/// and is nearly the name of a variable in a table. Other variables may belong to other programs.
void report_misspelt_variables(std::initializer_list<VariableTable> tables, char const* const* environment,
                               std::string& reports);

/// Returns a variable of the environment, or null if it is not set. In a process that has more rights than the user who
/// started it (set-user-ID, set-group-ID or capabilities of its file), no variable counts as set: TRACE_OUTPUT would
/// let the user write to any file.
char const* environment_variable(char const* name) noexcept;
/// Appends a line to `reports` if variables of the tables in `environment` are ignored because of such rights.
void report_ignored_variables(std::initializer_list<VariableTable> tables, char const* const* environment,
                              std::string& reports);

// ---- for the parsers of tables ----

struct VariableInput {
  Variable const& variable;
  std::string_view value;
  std::string& reports;

  /// Reports that `piece` of the value is wrong. If `piece` is nearly a word that the variable takes, the report
  /// suggests the word; otherwise it ends with `hint`.
  void reject(std::string_view piece, std::string_view what = "unknown value", std::string_view hint = {}) const;
  /// Returns the value as a number of bytes, which K, M or G may follow, from 1 byte to 1 TiB. Reports any other value
  /// and returns nothing.
  std::optional<std::uint64_t> read_size() const;
  /// Returns the value, seconds such as 2.5 up to 1e9, in nanoseconds; 0 for `off`. Reports any other value and returns
  /// nothing.
  std::optional<std::uint64_t> read_seconds() const;
};

/// Returns the words in backticks: `a` and `b` of "`a`, `b`".
std::vector<std::string_view> words_of(std::string_view values);

template <class M>
struct MemberOf;
template <class T, class Class>
struct MemberOf<T Class::*> {
  using Owner = Class;
};

/// Returns the member of the options, which may be an object of a class derived from EnvOptions.
template <auto kMember>
auto& member_of(EnvOptions& options) noexcept {
  return static_cast<typename MemberOf<decltype(kMember)>::Owner&>(options).*kMember;
}

template <auto kMember>
void parse_text(EnvOptions& options, VariableInput const& input) {
  member_of<kMember>(options) = input.value;
}

/// Parses a word that the variable takes. If the member is an enumeration, its enumerators have the order of the words;
/// if it is a bool, the first word is true.
template <auto kMember>
void parse_choice(EnvOptions& options, VariableInput const& input) {
  auto& out = member_of<kMember>(options);
  using T = std::remove_reference_t<decltype(out)>;
  auto const words = words_of(input.variable.values);
  auto const found = std::find(words.begin(), words.end(), input.value);
  if (found == words.end()) return input.reject(input.value);
  if constexpr (std::is_same_v<T, std::string>) {
    out = input.value;
  } else if constexpr (std::is_same_v<T, bool>) {
    out = found == words.begin();
  } else {
    out = static_cast<T>(found - words.begin());
  }
}

}}}  // namespace tracing::v1::environment
