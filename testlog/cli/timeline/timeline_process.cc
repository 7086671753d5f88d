#include "testlog/cli/timeline/timeline_process.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "testlog/cli/commands.h"
#include "testlog/cli/otlp/run_facts.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/runs/recorded_runs.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using summary::Result;
using Attempt = Attempts::Attempt;

Result worst_of(otlp::RunFacts const& facts) {
  bool has_passed = facts.tests.empty();
  Result worst = Result::passed;
  for (auto const& [tag, test] : facts.tests) {
    has_passed |= test.outcome.result == Result::passed;
    worst = std::max(worst, test.outcome.result);
  }
  return worst == Result::skipped && has_passed ? Result::passed : worst;
}

std::optional<TimelineProcess> read_process(std::string const& command, std::string const& path) {
  auto const file = open_recording(command, path);
  if (file == nullptr) return std::nullopt;
  otlp::RunFacts const facts = otlp::facts_of(*file->recording, path);
  TimelineProcess process{.path = path, .name = tracing::recording::name_of_recording(path)};
  process.host = facts.host;
  process.boot = facts.boot;
  process.run = facts.identity.run;
  process.result = worst_of(facts);
  process.begin = facts.begin;
  process.end = facts.end;
  process.identity = facts.identity;
  bool const is_one = facts.tests.size() == 1 && !facts.tests.begin()->second.outcome.name.empty();
  if (is_one) process.name = facts.tests.begin()->second.outcome.name;
  return process;
}

// Returns `Pool.Grows` for the recording `mylib_test.Pool.Grows.rec`.
std::string name_of_test(std::string const& recording) {
  std::string const stem = fs::path(recording).stem().string();
  std::size_t const last = stem.rfind('.');
  std::size_t const dot = last == stem.npos || last == 0 ? stem.npos : stem.rfind('.', last - 1);
  return dot == stem.npos ? stem : stem.substr(dot + 1);
}

TimelineProcess process_of(Attempt const& attempt) {
  TimelineProcess process{.name = name_of_test(attempt.recording), .run = attempt.run};
  process.result = attempt.passed.value_or(false) ? Result::passed
                   : attempt.passed               ? Result::failed
                                                  : Result::unfinished;
  process.begin = attempt.began;
  process.end = attempt.ended;
  return process;
}

// Joins the attempts that the log of a run has with the recordings that they left.
class LoggedRun {
 public:
  explicit LoggedRun(RecordedRun const& run) : attempts_(run.folder) {
    for (TestOfRun const& test : attempts_.tests_of(run))
      for (Attempt const& attempt : test.attempts) left_.emplace(key_of(attempt), attempt);
  }
  // Gives a process the times that the log has: a little before the recording, and until the end of its tests.
  void join(TimelineProcess& process) {
    Attempt const* const attempt = attempts_.attempt_of(process.path);
    if (attempt == nullptr || left_.erase(key_of(*attempt)) == 0) return;
    process.begin = std::min(process.begin, attempt->began);
    process.end = std::max(process.end, attempt->ended);
  }
  // Adds the processes that left no recordings. They ran on the machine of those that did.
  void add_rest(std::vector<TimelineProcess>& processes) const {
    std::map<std::string, std::pair<std::string, std::string>> machines;  // host and boot, by run
    for (TimelineProcess const& process : processes) machines.try_emplace(process.run, process.host, process.boot);
    for (auto const& [key, attempt] : left_) {
      TimelineProcess process = process_of(attempt);
      auto const known = machines.find(process.run);
      process.host = known == machines.end() ? tracing::environment::host_name() : known->second.first;
      process.boot = known == machines.end() ? tracing::environment::boot_id() : known->second.second;
      processes.push_back(std::move(process));
    }
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, int>;
  static Key key_of(Attempt const& attempt) {
    return {attempt.run, attempt.recording, attempt.program, attempt.number};
  }

  Attempts const attempts_;
  std::map<Key, Attempt> left_;
};

}  // namespace

Timeline read_timeline(std::string const& command, Inputs const& given) {
  Inputs const inputs = with_run(given);
  Timeline timeline;
  std::optional<RecordedRun> run;
  if (inputs.paths.empty() && !tracing::recording::is_tar(inputs.run))
    run = run_named(command, inputs.run.empty() ? "latest" : inputs.run);
  std::vector<std::string> const files =
      run && !run->ids.empty() ? files_of_run(command, *run) : files_of(command, inputs);
  std::optional<LoggedRun> log;
  if (run && !run->ids.empty()) log.emplace(*run);
  Progress progress(command, files.size());
  for (std::string const& file : files) {
    progress.step();
    auto process = read_process(command, file);
    timeline.is_complete &= process.has_value();
    if (!process) continue;
    if (log) log->join(*process);
    timeline.processes.push_back(std::move(*process));
  }
  if (log) log->add_rest(timeline.processes);
  timeline.has_log = log.has_value();
  if (run && run->next_began == Instant{INT64_MAX})
    timeline.build_folder = (run->folder / ".." / ".." / "..").lexically_normal().string();
  std::stable_sort(timeline.processes.begin(), timeline.processes.end(),
                   [](auto const& a, auto const& b) { return a.begin < b.begin; });
  return timeline;
}

std::string note_on_passed(std::string const& command, Timeline const& timeline) {
  bool has_tests = false, has_passed = false;
  for (TimelineProcess const& process : timeline.processes) {
    has_tests |= !process.run.empty();
    has_passed |= !process.run.empty() && !process.has_failed();
  }
  if (timeline.has_log || !has_tests || has_passed) return {};
  return "testlog " + command +
         ": no test that passed left a recording; after TRACE_RECORD_KEEP=all ctest, all tests leave one\n";
}

MachineNames::MachineNames(std::vector<TimelineProcess> const& processes) {
  std::map<std::string, std::set<std::string>> boots;  // by host
  for (TimelineProcess const& process : processes) boots[process.host].insert(process.boot);
  for (auto const& [host, ids] : boots)
    if (ids.size() > 1) shared_.push_back(host);
}

std::string MachineNames::name_of(TimelineProcess const& process) const {
  bool const is_shared = std::binary_search(shared_.begin(), shared_.end(), process.host);
  return is_shared && !process.boot.empty() ? process.host + " (boot " + process.boot + ")" : process.host;
}

}  // namespace testlog::cli
