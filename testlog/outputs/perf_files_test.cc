// The files of TRACE_PERF_JSON and TRACE_PERF_PROM under file size limits, with many writers, and when processes are
// killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testlog/testdata/run.h"
#include "tests/support/campaign.h"
#include "tests/support/prometheus_text.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/environment/file_names.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using tracing_test::PrometheusText;
using tracing_test::TemporaryFolder;

// Counts JSON objects, one per line. Returns -1 if a line is not an object. Ignores the last line unless the text is
// `complete`.
int count_objects(std::string const& text, bool complete) {
  std::istringstream lines(complete ? text : text.substr(0, text.rfind('\n') + 1));
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (!nlohmann::json::accept(line)) return -1;
  }
  return number;
}

// Says what is wrong with a complete Prometheus text; empty if nothing is.
std::string problem_of_prometheus(std::string const& text) {
  bool const has_end = text.find("_share_ratio{") != text.npos;
  return has_end ? PrometheusText(text).problem() : "it is incomplete: " + text;
}

std::vector<std::string> names_in(fs::path const& folder) {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

class PerfFiles : public testing::Test {
 protected:
  // Runs scenarios in a shell after the command `before`, and then prints their exit code.
  Outcome run_after(std::string const& before, std::string const& filter, Variables const& variables) const {
    return run(
        {"/bin/sh", "-c", before + "; " TESTLOG_SCENARIOS " --gtest_filter=" + filter + " >&2; echo ended with $?"},
        variables);
  }

  TemporaryFolder const folder_;
};

// ---- no room ----

TEST_F(PerfFiles, ReportAFileSizeLimitOnce) {
  // Allows a block of 512 bytes; without it, ThreadSanitizer's runtime fails to write a file of its own.
  Outcome const lines =
      run_after("ulimit -f 1", "Perf.Passes:Perf.PassesOnceMore",
                {{"TRACE_PERF", "on"}, {"TRACE_SHOW", "none"}, {"TRACE_PERF_JSON", folder_ / "perf"}});
  EXPECT_EQ(lines.out, "ended with 0\n") << lines.err;
  EXPECT_GE(count_objects(folder_.read("perf"), false), 2);
  EXPECT_EQ(count(lines.err, "File too large"), 1) << lines.err;
  Outcome const outcome =
      run_after("ulimit -f 1", "Perf.Passes:Perf.PassesOnceMore", {{"TRACE_PERF_PROM", folder_ / "%t.prom"}});
  EXPECT_EQ(outcome.out, "ended with 0\n") << outcome.err;
  EXPECT_EQ(count(outcome.err, "could not be written: File too large"), 1) << outcome.err;
  EXPECT_THAT(names_in(folder_ / ""), testing::ElementsAre("perf"));
}

TEST_F(PerfFiles, ReportAPathThatIsAFolderOnce) {
  fs::create_directory(folder_ / "perf");
  Outcome const outcome = run_scenarios(
      "Perf.Passes",
      {{"TRACE_PERF", "on"}, {"TRACE_PERF_JSON", folder_ / "perf"}, {"TRACE_PERF_PROM", folder_ / "perf"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, "TRACE_PERF_JSON=" + (folder_ / "perf") + ": could not be opened: Is a directory"), 1)
      << outcome.err;
  EXPECT_EQ(count(outcome.err, "TRACE_PERF_PROM: " + (folder_ / "perf") + " already exists"), 1) << outcome.err;
  EXPECT_EQ(names_in(folder_ / "").size(), 2u) << "the sums are in a file of another name";
}

TEST_F(PerfFiles, FollowNoLinkAtTheirTemporaryName) {
  std::string const victim = folder_.write("victim", "precious");
  std::string const part = folder_ / ("file.prom." + std::to_string(getpid()) + ".part");
  for (std::string const& target : {victim, folder_ / "missing"}) {
    fs::create_symlink(target, part);
    std::error_code error;
    fs::remove(folder_ / "file.prom");
    EXPECT_EQ(tracing::environment::create_complete_file(folder_ / "file.prom", "sums", error), folder_ / "file.prom");
    EXPECT_FALSE(error) << error.message();
  }
  EXPECT_EQ(folder_.read("victim"), "precious");
  EXPECT_EQ(folder_.read("file.prom"), "sums");
  EXPECT_THAT(names_in(folder_ / ""), testing::UnorderedElementsAre("victim", "file.prom"));
}

TEST_F(PerfFiles, ReplaceTemporaryFilesOfKilledProcesses) {
  folder_.write("file.prom." + std::to_string(getpid()) + ".part", "a longer text than the new one");
  std::error_code error;
  tracing::environment::create_complete_file(folder_ / "file.prom", "sums", error);
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(folder_.read("file.prom"), "sums");
}

// ---- several processes ----

TEST_F(PerfFiles, AreNotWrittenByAForkedChild) {
  run_scenarios("Perf.Forks",
                {{"TRACE_PERF_PROM", folder_ / "perf.prom"}, {"TRACE_PERF_JSON", folder_ / "perf.jsonl"}});
  EXPECT_THAT(folder_.read("perf.prom"), HasSubstr("_count{name=\"cpu_ldg\"} 2\n"));
  EXPECT_EQ(count_objects(folder_.read("perf.jsonl"), true), 2);
  EXPECT_THAT(names_in(folder_ / ""), testing::UnorderedElementsAre("perf.prom", "perf.jsonl"));
}

// Runs programs at once, as `ctest -j8` does.
TEST_F(PerfFiles, KeepTheOutputOfAllProcessesWithOnePath) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      run_scenarios("Perf.Passes", {{"TRACE_PERF", "on"},
                                    {"TRACE_PERF_PROM", folder_ / "perf.prom"},
                                    {"TRACE_PERF_JSON", folder_ / "perf.jsonl"}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count_objects(folder_.read("perf.jsonl"), true), 8 * (3 + 2));
  auto const names = names_in(folder_ / "");
  EXPECT_EQ(names.size(), 8u + 1);
  for (std::string const& name : names) {
    if (name == "perf.jsonl") continue;
    EXPECT_EQ(problem_of_prometheus(folder_.read(name)), "") << name;
  }
}

// ---- killed ----

// Runs `f` in a child process and kills it after `time`.
template <class F>
void kill_after(std::chrono::microseconds time, F f) {
  pid_t const child = fork();
  if (child == 0) {
    f();
    _exit(0);
  }
  std::this_thread::sleep_for(time);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(PerfFiles, AreCompleteOrMissingAfterAKill) {
  int const rounds = tracing_test::campaign(300, 50);
  std::mt19937 random(3);
  std::string const text(100'000, 'x');
  std::size_t complete = 0;
  unsigned longest_us = 2000;
  for (int turn = 0; turn < rounds; ++turn) {
    if (turn % 5 == 4 && complete == 0) longest_us *= 2;  // a child begins late under a sanitizer and on a busy machine
    kill_after(std::chrono::microseconds(random() % longest_us), [&] {
      std::error_code error;
      for (;;) tracing::environment::create_complete_file(folder_ / "file.prom", text, error);
    });
    for (std::string const& name : names_in(folder_ / "")) {
      if (!name.ends_with(".part")) {
        ASSERT_EQ(fs::file_size(folder_ / name), text.size()) << name;
        ++complete;
      }
      fs::remove(folder_ / name);
    }
  }
  EXPECT_GT(complete, 0u);
}

TEST_F(PerfFiles, HaveCompleteLinesButTheLastAfterAKill) {
  int const rounds = tracing_test::campaign(30, 5);
  std::mt19937 random(4);
  Variables const variables{{"TRACE_PERF", "on"}, {"TRACE_SHOW", "none"}, {"TRACE_PERF_JSON", folder_ / "perf.jsonl"}};
  auto const began = std::chrono::steady_clock::now();
  run_scenarios("Perf.PassesOnceMore", variables);
  std::chrono::duration<double> const once = std::chrono::steady_clock::now() - began;
  int most = 0;
  for (int turn = 0; turn < rounds; ++turn) {
    fs::remove(folder_ / "perf.jsonl");
    double const seconds = once.count() * (0.5 + static_cast<double>(random() % 1000) / 200);
    run({"/usr/bin/env", "timeout", "-s", "KILL", std::to_string(seconds), TESTLOG_SCENARIOS,
         "--gtest_filter=Perf.PassesOnceMore", "--gtest_repeat=100000", "--gtest_brief=1"},
        variables);
    int const number = count_objects(folder_.read("perf.jsonl"), false);
    ASSERT_GE(number, 0);
    most = std::max(most, number);
  }
  EXPECT_GT(most, 0);
}

}  // namespace
