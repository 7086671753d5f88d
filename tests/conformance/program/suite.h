// Suite says how the cases of one file are answered. all_suites() lists all suites.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace conformance {

using Json = nlohmann::json;

/// Answers the cases of one file. An answer is computed only from the input, in a separate process, and has the form of
/// the expected answer. The suite does not compare them.
struct Suite {
  std::string_view file;              ///< without ".json"
  std::size_t tasks_per_process = 1;  ///< 1 if answers depend on what the process did before
  /// Returns the number of answers of a case; null if each case has one answer.
  std::size_t (*parts)(Json const& input) = nullptr;
  /// Computes part `part` of the answer; throws BadCase for unknown input.
  Json (*answer)(Json const& input, std::size_t part) = nullptr;
  /// Combines the parts; null if each case has one answer.
  Json (*join)(Json&& parts) = nullptr;
  /// Removes allowed differences from the answer and from the expected answer; null if no differences are allowed.
  void (*normalise)(Json& answer) = nullptr;
};

std::span<Suite const> all_suites();

extern Suite const kLevels;
extern Suite const kDatetime;
extern Suite const kTimingDisplay;
extern Suite const kEnvFilterParse;
extern Suite const kEnvFilterStatic;
extern Suite const kEnvFilterDynamic;
extern Suite const kEnvFilterValues;
extern Suite const kTargets;
extern Suite const kFlame;
extern Suite const kFmtScenarios;
extern Suite const kValues;
extern Suite const kChrome;
extern Suite const kInferno;

}  // namespace conformance
