// one_of(): options whose values are names.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace testlog::cli {

/// Names, each with the value that it stands for.
template <class Choice>
using Choices = std::vector<std::pair<std::string, Choice>>;

/// For check(): refuses a value that is not among these names, with an error that lists them.
inline CLI::Validator one_of(std::vector<std::string> names) {
  return CLI::Validator(
      [names = std::move(names)](std::string& text) {
        std::string error;
        if (std::find(names.begin(), names.end(), text) != names.end()) return error;
        for (std::string const& name : names) error.append(error.empty() ? "" : ", ").append(name);
        return "invalid value '" + text + "'; expected one of " + error;
      },
      "");
}

/// For transform(): refuses values likewise, and replaces a name by its enumerator. (The error of CLI11's own validator
/// lists the numbers, too.)
template <class Choice>
CLI::Validator one_of(Choices<Choice> choices) {
  std::vector<std::string> names;
  for (auto const& [name, choice] : choices) names.push_back(name);
  return CLI::Validator(
      [choices = std::move(choices), is_name = one_of(std::move(names))](std::string& text) {
        std::string const error = is_name(text);
        for (auto const& [name, choice] : choices) {
          if (name == text) return text = std::to_string(static_cast<long>(choice)), error;
        }
        return error;
      },
      "");
}

}  // namespace testlog::cli
