// Suite: how the cases of one file are answered. all_suites() lists all of them.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace conformance {

using Json = nlohmann::json;

/// How the cases of one file are answered. An answer is computed only from the input, in a separate process, and has
/// the form of the expected one. The suite does not compare them.
struct Suite {
  std::string_view file;              ///< without ".json"
  std::size_t tasks_per_process = 1;  ///< 1 if answers depend on what the process did before
  /// The number of answers of a case; null for one.
  std::size_t (*parts)(Json const& input) = nullptr;
  /// Part `part` of the answer; throws BadCase for unknown input.
  Json (*answer)(Json const& input, std::size_t part) = nullptr;
  /// Combines the parts; null if there is one part.
  Json (*join)(Json&& parts) = nullptr;
  /// Removes allowed differences from an answer and from the expected one; null if there are none.
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
