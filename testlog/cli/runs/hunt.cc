#include "testlog/cli/runs/hunt.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "testlog/cli/recordings.h"
#include "testlog/cli/run_marks.h"
#include "testlog/cli/selection.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/record/decode/recording_files.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kAlways = 30;  // runs that all failed

std::int64_t now_ns() { return tracing::Instant::now().ns; }

// Shows how far the hunt is on standard error if that is a terminal.
class Counter {
 public:
  explicit Counter(HuntOptions const& options) : options_(options) {}
  Counter(Counter const&) = delete;
  Counter& operator=(Counter const&) = delete;
  ~Counter() {
    if (is_printed_) std::fputs("\r\x1b[K", stderr);
  }

  void show(HuntResult const& result, std::int64_t began_ns) {
    if (!is_terminal_ || now_ns() - printed_ns_ < kSecond / 5) return;
    printed_ns_ = now_ns();
    is_printed_ = true;
    fmt::print(stderr, "\r\x1b[Ktestlog hunt: {} runs in {} s: {} failed (of {}), {} passed (of {})", result.runs,
               (printed_ns_ - began_ns) / kSecond, result.failed, options_.failing, result.passed, options_.passing);
    std::fflush(stderr);
  }

 private:
  HuntOptions const& options_;
  bool const is_terminal_ = isatty(STDERR_FILENO) == 1;
  bool is_printed_ = false;
  std::int64_t printed_ns_ = 0;
};

// Returns the last lines of a file, at most two thousand bytes.
std::string end_of(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  while (text.ends_with('\n')) text.pop_back();
  if (text.size() > 2000) text = "..." + text.substr(text.size() - 2000);
  return text;
}

bool has_test(std::string const& path, Selection const& selection) {
  auto const opened = open_recording("hunt", path);
  if (opened == nullptr) return false;
  RecordedTests const tests = recorded_tests_of(*opened->recording);
  return std::any_of(tests.begin(), tests.end(), [&](auto const& test) { return selection.has(test.second); });
}

// Returns the recording of the test, since programs that the test starts may record, too; if none has it, the first.
fs::path recording_in(fs::path const& folder, std::string const& test) {
  std::error_code error;
  auto const found = tracing::recording::recordings_in(folder, tracing::recording::Folders::only_this, error);
  if (found.empty()) return {};
  Selection selection;
  selection.tests = test;
  if (found.size() > 1) {
    for (std::string const& path : found) {
      if (has_test(path, selection)) return path;
    }
  }
  return found.front();
}

class Hunter {
 public:
  Hunter(HuntOptions const& options, RepeatedProcess& process) : options_(options), process_(process) {
    for (fs::path const& folder : {current(), options_.folder / "failing", options_.folder / "passing"})
      fs::create_directories(folder);
  }

  HuntResult hunt() {
    while (!is_over()) run_once();
    result_.ns = now_ns() - began_ns_;
    fs::remove_all(current());
    return result_;
  }

 private:
  fs::path current() const { return options_.folder / "current"; }
  fs::path log() const { return options_.folder / "current.log"; }

  bool is_over() {
    using End = HuntResult::End;
    bool const has_all = result_.kept_failing >= options_.failing && result_.kept_passing >= options_.passing;
    if (has_all) return result_.end = End::found, true;
    if (process_.is_interrupted()) return result_.end = End::interrupted, true;
    if (now_ns() - began_ns_ >= options_.longest_ns) return result_.end = End::out_of_time, true;
    if (result_.passed == 0 && result_.failed >= std::max(kAlways, options_.failing))
      return result_.end = End::always_fails, true;
    return false;
  }

  void run_once() {
    std::uint64_t const seed = options_.first_seed + result_.runs;
    std::string const perturbation = options_.perturbs ? fmt::format("{},{}", seed, options_.max_us) : "";
    fs::remove_all(current());
    fs::create_directory(current());
    std::int64_t const run_began_ns = now_ns(), end_ns = began_ns_ + options_.longest_ns;
    std::int64_t const hang_ns =
        longest_passed_ns_ == 0 ? end_ns : run_began_ns + 20 * longest_passed_ns_ + 10 * kSecond;
    auto const outcome = process_.run(
        options_.command,
        {{"TRACE_PERTURB", perturbation}, {"TRACE_RECORD", current().native() + "/"}, {"TRACE_RECORD_KEEP", "all"}},
        log(), std::min(end_ns, hang_ns), [this] { counter_.show(result_, began_ns_); });
    if (outcome.end == RepeatedProcess::End::interrupted) return;
    bool const has_hung = outcome.end == RepeatedProcess::End::out_of_time;
    if (has_hung && end_ns <= hang_ns) return;
    result_.has_hung |= has_hung;
    ++result_.runs;
    if (outcome.succeeded) longest_passed_ns_ = std::max(longest_passed_ns_, now_ns() - run_began_ns);
    keep(outcome.succeeded, perturbation);
    counter_.show(result_, began_ns_);
  }

  void keep(bool passed, std::string const& perturbation) {
    fs::path const recording = recording_in(current(), options_.test);
    if (recording.empty())
      throw std::runtime_error("hunt: run " + std::to_string(result_.runs) +
                               " left no recording: did it run a test that links testlog? It printed\n" +
                               end_of(log()));
    ++(passed ? result_.passed : result_.failed);
    if (!passed && result_.first_failed == 0) {
      result_.first_failed = result_.runs;
      result_.first_perturbation = perturbation;
    }
    std::size_t& kept = passed ? result_.kept_passing : result_.kept_failing;
    if (kept >= (passed ? options_.passing : options_.failing)) return;
    ++kept;
    std::string name = fmt::format("run-{}", result_.runs);
    if (options_.perturbs) name += ".seed-" + perturbation.substr(0, perturbation.find(','));
    fs::path const place = options_.folder / (passed ? "passing" : "failing") / name;
    fs::rename(recording, place.native() + ".rec");
    if (!passed) fs::copy_file(log(), place.native() + ".log");
  }

  HuntOptions const& options_;
  RepeatedProcess& process_;
  std::int64_t const began_ns_ = now_ns();
  std::int64_t longest_passed_ns_ = 0;
  HuntResult result_;
  Counter counter_{options_};
};

}  // namespace

HuntResult hunt(HuntOptions const& options, RepeatedProcess& process) { return Hunter(options, process).hunt(); }

}  // namespace testlog::cli
