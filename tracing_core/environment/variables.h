// How tables of variables are read from the environment.
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

namespace tracing::inline v1::internal {

/// A value that is being read, and where to report that it is wrong.
struct VariableInput;

/// A row of a table of variables. The texts are Markdown.
struct Variable {
  char const* name;
  char const* values;  ///< the words it takes, each in backticks, or a description
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

/// Reads all variables by `get`, which returns null for one that is not set, into `options`, which has the defaults. An
/// empty variable, and one with a bad value, counts as unset. Appends a line about each bad value to `reports`:
/// `testlog: TRACE_FORMAT=ful: unknown value; expected one of full, compact, pretty, json (did you mean full?)`
void read_variables(std::initializer_list<VariableTable> tables, char const* (*get)(char const* name),
                    EnvOptions& options, std::string& reports);

/// Appends a line about each variable in `environment`, which is like environ, that begins with TRACE_, is in no table,
/// but nearly has the name of one that is: `testlog: TRACE_FITLER: unknown variable; did you mean TRACE_FILTER?` Others
/// may belong to other programs.
void report_misspelt_variables(std::initializer_list<VariableTable> tables, char const* const* environment,
                               std::string& reports);

/// A variable of the environment; null if it is not set. None is in a process that has rights which the user who started it
/// lacks, by set-user-ID, set-group-ID or the capabilities of its file: TRACE_OUTPUT would let them write to any file.
char const* environment_variable(char const* name) noexcept;
/// Appends a line to `reports` if that is why variables of the tables in `environment` are ignored.
void report_ignored_variables(std::initializer_list<VariableTable> tables, char const* const* environment,
                              std::string& reports);

// ---- for the parsers of tables ----

struct VariableInput {
  Variable const& variable;
  std::string_view value;
  std::string& reports;

  /// Reports that `piece` of the value is wrong.
  void reject(std::string_view piece, std::string_view what = "unknown value") const;
  /// The value as a number of bytes, which K, M or G may follow, at most 1 TiB. None, and reported, if it is no such number.
  std::optional<std::uint64_t> read_size() const;
};

/// Without white space around it.
std::string_view trimmed(std::string_view text) noexcept;

/// `a` and `b` of "`a`, `b`".
std::vector<std::string_view> words_of(std::string_view values);

template <class M>
struct MemberOf;
template <class T, class Class>
struct MemberOf<T Class::*> {
  using Owner = Class;
};

/// The member of the options, which may be a class derived from EnvOptions.
template <auto kMember>
auto& member_of(EnvOptions& options) noexcept {
  return static_cast<typename MemberOf<decltype(kMember)>::Owner&>(options).*kMember;
}

template <auto kMember>
void parse_text(EnvOptions& options, VariableInput const& input) {
  member_of<kMember>(options) = input.value;
}

/// One of the variable's words. If the member is an enumeration, its enumerators have the order of the words; if it is a
/// bool, the first word is true.
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

}  // namespace tracing::inline v1::internal
