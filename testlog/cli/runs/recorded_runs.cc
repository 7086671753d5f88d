#include "testlog/cli/runs/recorded_runs.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "testlog/cli/runs/recording_head.h"
#include "testlog/cli/terminal.h"
#include "tracing_core/environment/failed_attempts.h"
#include "tracing_core/environment/passed_recordings.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using tracing::environment::RunLog;

constexpr int kMaxDepth = 4;  // of build folders below the current folder

bool is_earlier(RecordedRun const& a, RecordedRun const& b) noexcept { return a.last > b.last; }

// Says why --run selects none of the runs whose ids begin with `wanted`, or more than one.
std::string text_of_choice(std::string const& wanted, std::vector<RecordedRun> const& runs) {
  std::string const quoted = "'" + printable(wanted) + "'";
  if (runs.empty()) return "no run begins with " + quoted + "; testlog runs lists them";
  bool const is_one_ctest =
      std::all_of(runs.begin(), runs.end(), [&runs](RecordedRun const& run) { return run.ids == runs[0].ids; });
  if (!is_one_ctest) return "more than one run begins with " + quoted + "; testlog runs lists them";
  std::string const first = printable(runs[0].folder.native()), second = printable(runs[1].folder.native());
  return "the run " + quoted + " has recordings in " + first + " and " + second +
         "; call testlog in one of these builds";
}

// Calls `f(file, attempt, pass)` for each recording of an attempt that failed, with the attempt that then passed.
template <class F>
void for_each_flaky(std::vector<std::string> const& files, F f) {
  std::map<fs::path, Attempts> by_folder;
  for (std::string const& file : files) {
    fs::path const folder = fs::path(file).parent_path();
    Attempts const& attempts = by_folder.try_emplace(folder, folder).first->second;
    Attempts::Attempt const* const attempt = attempts.attempt_of(file);
    Attempts::Attempt const* const pass =
        attempt == nullptr || attempt->passed == true ? nullptr : attempts.later_pass(*attempt);
    if (pass != nullptr) f(file, *attempt, *pass);
  }
}

}  // namespace

std::vector<RecordedRun> find_runs(fs::path const& folder) {
  std::vector<RecordedRun> runs;
  tracing::Instant next_began{INT64_MAX};
  RunLog const log(folder);
  if (std::string const problem = log.problem(); !problem.empty())
    report("testlog: cannot read the log of runs " + printable(problem) + "; its runs cannot be told apart\n");
  for (RunLog::LoggedRun& run : log.runs()) {
    runs.push_back({folder, std::move(run.ids), run.began, run.last, next_began});
    next_began = run.began;
  }
  if (runs.empty()) runs.push_back({folder, {}, {}, time_written(folder)});
  return runs;
}

std::vector<RecordedRun> find_runs() {
  std::vector<RecordedRun> runs;
  auto const look_at = [&runs](fs::path const& build) {
    std::error_code error;
    fs::path const folder = (build / "Testing" / "Temporary" / "testlog").lexically_normal();
    if (!fs::is_directory(folder, error)) return;
    auto found = find_runs(folder);
    runs.insert(runs.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  };
  look_at(".");
  std::error_code error;
  fs::recursive_directory_iterator at(".", fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (!at->is_directory(error) || at->is_symlink(error)) continue;
    look_at(at->path());
    bool const is_hidden = at->path().filename().native().starts_with(".");
    if (is_hidden || at.depth() >= kMaxDepth) at.disable_recursion_pending();
  }
  std::stable_sort(runs.begin(), runs.end(), is_earlier);
  return runs;
}

RecordedRun run_named(std::string const& command, std::string const& wanted) {
  std::vector<RecordedRun> runs = find_runs();
  if (runs.empty()) throw std::runtime_error(command + ": no recording is named, and " + kNoRun);
  if (wanted == "latest") return std::move(runs.front());
  auto const has_id = [](RecordedRun const& run, auto is_wanted) {
    return std::any_of(run.ids.begin(), run.ids.end(), is_wanted);
  };
  auto const is_exact = [&](RecordedRun const& run) {
    return has_id(run, [&wanted](std::string const& id) { return id == wanted; });
  };
  if (std::any_of(runs.begin(), runs.end(), is_exact)) {
    std::erase_if(runs, std::not_fn(is_exact));
  } else {
    std::erase_if(runs, [&](RecordedRun const& run) {
      return !has_id(run, [&wanted](std::string const& id) { return id.starts_with(wanted); });
    });
  }
  if (runs.size() == 1) return std::move(runs.front());
  throw std::runtime_error(command + ": --run: " + text_of_choice(wanted, runs));
}

tracing::Instant time_written(fs::path const& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return tracing::Instant{status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::size_t TestOfRun::test_count() const noexcept {
  return attempts.empty() ? 1 : static_cast<std::size_t>(attempts.back().tests);
}

// A process may fail without a failed test, as by a fault outside of tests.
std::size_t TestOfRun::failed_count() const noexcept {
  if (!has_failed()) return 0;
  return attempts.empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(attempts.back().failed));
}

std::size_t TestOfRun::flaky_count() const noexcept {
  if (!is_flaky()) return 0;
  for (Attempts::Attempt const& attempt : attempts)
    if (attempt.number == failed_attempt) return std::max<std::size_t>(1, static_cast<std::size_t>(attempt.failed));
  return 1;
}

Attempts::Attempts(fs::path const& folder) : all_(RunLog(folder.empty() ? "." : folder.string()).attempts()) {
  for (Attempt const& attempt : all_) {
    by_test_[{attempt.recording, attempt.program}].push_back(&attempt);
    by_file_[attempt.file].push_back(&attempt);
    Times& ctest = ctests_[attempt.run];
    ctest.began = std::min(ctest.began, attempt.began);
    ctest.ended = std::max(ctest.ended, attempt.ended);
  }
}

std::vector<Attempts::Attempt const*> const& Attempts::of_same_test(Attempt const& attempt) const {
  return by_test_.at({attempt.recording, attempt.program});
}

std::vector<TestOfRun> Attempts::tests_of(RecordedRun const& run) const {
  std::set<std::string> const ids(run.ids.begin(), run.ids.end());
  std::vector<TestOfRun> tests;
  for (auto const& [name, attempts] : by_test_) {
    TestOfRun test{.recording = name.first, .program = name.second};
    std::string const* ctest = nullptr;  // that ran the test last; several may have done so at once
    for (Attempt const* const attempt : attempts)
      if (ids.contains(attempt->run)) ctest = &attempt->run;
    for (Attempt const* const attempt : attempts) {
      if (ctest == nullptr || attempt->run != *ctest) continue;
      bool const has_passed = attempt->passed == true;
      test.passed_attempt = has_passed ? attempt->number : 0;
      if (!has_passed) test.failed_attempt = attempt->number;
      test.attempts.push_back(*attempt);
    }
    if (ctest != nullptr) tests.push_back(std::move(test));
  }
  return tests;
}

Attempts::Attempt const* Attempts::attempt_of(std::string const& file) const {
  auto const found = by_file_.find(tracing::environment::name_of_attempt(fs::path(file).filename()));
  auto const start = found == by_file_.end() ? std::nullopt : start_of(file);
  Attempt const* made_by = nullptr;
  if (!start) return made_by;
  for (Attempt const* const attempt : found->second)
    if (attempt->began <= *start) made_by = attempt;
  return made_by;
}

Attempts::Attempt const* Attempts::later_pass(Attempt const& attempt) const {
  for (Attempt const* const other : of_same_test(attempt))
    if (other->run == attempt.run && other->number > attempt.number && other->passed == true) return other;
  return nullptr;
}

bool Attempts::is_superseded(Attempt const& attempt) const {
  std::vector<Attempt const*> const& all = of_same_test(attempt);
  return std::any_of(all.begin(), all.end(), [&](Attempt const* other) {
    return ctests_.at(other->run).began > ctests_.at(attempt.run).ended;
  });
}

std::uintmax_t bytes_on_disk(fs::path const& path) {
  constexpr std::uintmax_t kBlockBytes = 512;  // the unit of st_blocks
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? static_cast<std::uintmax_t>(status.st_blocks) * kBlockBytes : 0;
}

std::vector<std::string> baseline_of(std::string const& file) {
  fs::path const path(file);
  std::string const folder = path.parent_path().empty() ? "." : path.parent_path().string();
  std::string const name = tracing::environment::name_of_attempt(path.filename());
  auto const own = tracing::environment::passed_recordings(folder, name);
  // Two processes recorded at once, and one of them took `<test>.<process>.rec`: it has the baseline of the test.
  return own.empty() ? tracing::environment::passed_recordings(folder, fs::path(name).stem().stem()) : own;
}

std::set<std::string> flaky_of(std::vector<std::string> const& files) {
  std::set<std::string> flaky;
  for_each_flaky(files, [&flaky](std::string const& file, auto const&, auto const&) { flaky.insert(file); });
  return flaky;
}

std::string notes_on_flaky(std::string const& command, std::vector<std::string> const& files) {
  std::string lines;
  for_each_flaky(files, [&](std::string const&, Attempts::Attempt const& attempt, Attempts::Attempt const& pass) {
    lines += "testlog " + command + ": " + printable(fs::path(attempt.recording).stem().native()) +
             " is flaky: attempt " + std::to_string(attempt.number) + " failed, attempt " +
             std::to_string(pass.number) + " passed\n";
  });
  return lines;
}

}  // namespace testlog::cli
