// Declares Suite, how the cases of one file are answered, and the table of all suites.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace conformance {

using Json = nlohmann::json;

/// How the cases of one file are answered. An answer is computed from the input alone and has the form of what the case
/// expects; comparing the two is not the suite's business. Answers are computed in processes of their own.
struct Suite {
  std::string_view file;              ///< without ".json"
  std::size_t tasks_per_process = 1;  ///< 1 where answers depend on what the process did before
  /// How many answers a case needs; null: one.
  std::size_t (*parts)(Json const& input) = nullptr;
  /// Part `part` of the answer; throws BadCase where the input asks for something unknown.
  Json (*answer)(Json const& input, std::size_t part) = nullptr;
  /// Puts the parts together; null: there is one, which is the answer.
  Json (*join)(Json&& parts) = nullptr;
  /// Removes from an answer and from what is expected what may differ; null: nothing may.
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
