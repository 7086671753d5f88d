#include "run_file.h"

#include <exception>
#include <utility>

#include "case_file.h"
#include "compare.h"
#include "isolation.h"
#include "object_reader.h"

namespace conformance {
namespace {

struct Task {
  std::size_t case_index;
  std::size_t part;
};

std::vector<Task> make_tasks(std::vector<Case>& cases, Suite const& suite) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].problem.empty()) continue;
    try {
      std::size_t const parts = suite.parts == nullptr ? 1 : suite.parts(Json::parse(cases[i].input));
      for (std::size_t part = 0; part < parts; ++part) tasks.push_back({i, part});
    } catch (BadCase const& error) {
      cases[i].problem = error.what();
    }
  }
  return tasks;
}

// Computes an answer in a separate process; take() reads the result.
std::string answer_text(Suite const& suite, std::string const& input, std::size_t part) {
  // Never destroyed, as spans that a case leaves open refer to it.
  auto const& parsed = *new Json(Json::parse(input));
  Json message;
  try {
    message["answer"] = suite.answer(parsed, part);
  } catch (std::exception const& error) {
    message["problem"] = error.what();
  }
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The results of all tasks of a case.
struct Answered {
  Json parts = Json::array();
  std::vector<std::string> problems;
};

void take(Outcome const& outcome, Answered& out) {
  if (!outcome.death.empty()) {
    out.problems.push_back(outcome.death);
    return;
  }
  Json message = Json::parse(outcome.answer);
  if (message.contains("problem")) {
    out.problems.push_back(message["problem"].get<std::string>());
  } else {
    out.parts.push_back(std::move(message["answer"]));
  }
}

std::vector<std::string> failures_of(Case const& one, Suite const& suite, Answered& answered) {
  if (!one.problem.empty()) return {one.problem};
  if (!answered.problems.empty() || one.any) return std::move(answered.problems);
  Json answer = suite.join != nullptr ? suite.join(std::move(answered.parts)) : std::move(answered.parts.at(0));
  Json expected = Json::parse(one.expected);
  if (suite.normalise != nullptr) {
    suite.normalise(expected);
    suite.normalise(answer);
  }
  return differences(expected, answer);
}

}  // namespace

FileResult run_file(std::filesystem::path const& path, Suite const& suite, RunOptions const& options) {
  std::vector<Case> cases = read_cases(path);
  if (!options.only_id.empty()) std::erase_if(cases, [&](Case const& one) { return one.id != options.only_id; });
  std::vector<Task> const tasks = make_tasks(cases, suite);
  auto const outcomes = run_isolated(
      tasks.size(), {suite.tasks_per_process, options.processes, options.timeout},
      [&](std::size_t task) { return answer_text(suite, cases[tasks[task].case_index].input, tasks[task].part); });

  std::vector<Answered> answered(cases.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) take(outcomes[i], answered[tasks[i].case_index]);
  FileResult result;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto lines = failures_of(cases[i], suite, answered[i]);
    if (lines.empty()) {
      ++result.passed;
    } else {
      result.failures.push_back({cases[i].id, cases[i].tag, std::move(lines)});
    }
  }
  return result;
}

}  // namespace conformance
