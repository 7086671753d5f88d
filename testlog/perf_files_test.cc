// The files of TRACE_PERF_JSON and TRACE_PERF_PROM, where disks are full, files may not grow, processes are killed and many
// write to one path.
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

#include "testlog/file_names.h"
#include "testlog/testdata/run.h"
#include "tests/support/prometheus_text.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::content_of;
using testlog::testdata::count;
using testlog::testdata::Outcome;
using testlog::testdata::run;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;
using tracing_test::PrometheusText;
using tracing_test::TemporaryFolder;

// How many objects stand there, each on a line; -1 where a line is none. The last one may have broken off.
int count_objects(std::string const& text, bool complete) {
  std::istringstream lines(complete ? text : text.substr(0, text.rfind('\n') + 1));
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (!nlohmann::json::accept(line)) return -1;
  }
  return number;
}

// What is wrong with it, or nothing. Nothing is also cut off.
std::string problem_of_prometheus(std::string const& text) {
  bool const has_end = text.find("_share_ratio{") != text.npos;
  return has_end ? PrometheusText(text).problem() : "it has no end: " + text;
}

std::vector<std::string> names_in(fs::path const& folder) {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

class PerfFiles : public testing::Test {
 protected:
  // Runs scenarios behind `before`, words of a shell; then it prints how they ended.
  Outcome run_behind(std::string const& before, std::string const& filter, Variables const& variables) const {
    return run(
        {"/bin/sh", "-c", before + "; " TESTLOG_SCENARIOS " --gtest_filter=" + filter + " >&2; echo ended with $?"},
        variables);
  }

  TemporaryFolder const folder_;
};

// ---- no room ----

TEST_F(PerfFiles, AFullDiskTakesWholeLinesAndWholeFilesAndIsToldOnce) {
  std::string const disk = folder_ / "disk";
  fs::create_directory(disk);
  Outcome const probe = run({"/usr/bin/env", "unshare", "-Urm", "mount", "-t", "tmpfs", "none", disk});
  if (probe.exit_code != 0) GTEST_SKIP() << "nothing can be mounted here: " << probe.err;
  for (char const* const variable : {"TRACE_PERF_JSON", "TRACE_PERF_PROM"}) {
    // The disk is gone with the shell, so that shows what is on it.
    Outcome const outcome =
        run({"/usr/bin/env", "unshare", "-Urm", "/bin/sh", "-c",
             "mount -t tmpfs -o size=64k none " + disk + " && cd " + disk +
                 " && head -c 57344 /dev/zero > filler && " TESTLOG_SCENARIOS
                 " --gtest_filter=Perf.ManyThreads:Perf.Passes --gtest_repeat=2 >&2; echo ended with $?; ls; cat perf"},
            {{"TRACE_PERF", "on"}, {"TRACE_SHOW", "none"}, {variable, "perf"}});
    std::size_t const listed = outcome.out.find("filler\nperf\n");
    ASSERT_THAT(outcome.out, StartsWith("ended with 0\n")) << outcome.err;
    if (std::string(variable) == "TRACE_PERF_JSON") {
      ASSERT_NE(listed, outcome.out.npos) << outcome.out;
      EXPECT_GT(count_objects(outcome.out.substr(listed + 12), false), 20);
      EXPECT_EQ(count(outcome.err, "No space left"), 1) << outcome.err;
    } else {
      EXPECT_EQ(problem_of_prometheus(outcome.out.substr(listed + 12)), "");  // which there is room for
    }
  }
  Outcome const outcome = run({"/usr/bin/env", "unshare", "-Urm", "/bin/sh", "-c",
                               "mount -t tmpfs -o size=4k none " + disk + " && cd " + disk +
                                   " && head -c 4096 /dev/zero > filler && " TESTLOG_SCENARIOS
                                   " --gtest_filter=Perf.Passes --gtest_repeat=2 >&2; echo ended with $?; ls"},
                              {{"TRACE_PERF_PROM", "perf.%t"}});
  EXPECT_EQ(outcome.out, "ended with 0\nfiller\n") << "no part of a file is left";
  EXPECT_EQ(count(outcome.err, "cannot be written: No space left on device"), 1) << outcome.err;
}

TEST_F(PerfFiles, ALimitOfTheirSizeEndsNoProgramAndIsToldOnce) {
  // A block of 512 bytes: with none at all a program under ThreadSanitizer ends before its main(), by a file of that runtime's.
  Outcome const lines = run_behind("ulimit -f 1", "Perf.Passes:Perf.PassesOnceMore",
                                   {{"TRACE_PERF", "on"}, {"TRACE_SHOW", "none"}, {"TRACE_PERF_JSON", folder_ / "perf"}});
  EXPECT_EQ(lines.out, "ended with 0\n") << lines.err;
  EXPECT_GE(count_objects(folder_.read("perf"), false), 2);
  EXPECT_EQ(count(lines.err, "File too large"), 1) << lines.err;
  Outcome const outcome =
      run_behind("ulimit -f 1", "Perf.Passes:Perf.PassesOnceMore", {{"TRACE_PERF_PROM", folder_ / "%t.prom"}});
  EXPECT_EQ(outcome.out, "ended with 0\n") << outcome.err;
  EXPECT_EQ(count(outcome.err, "cannot be written: File too large"), 1) << outcome.err;
  EXPECT_THAT(names_in(folder_ / ""), testing::ElementsAre("perf"));
}

TEST_F(PerfFiles, APathThatIsAFolderIsToldOnce) {
  fs::create_directory(folder_ / "perf");
  Outcome const outcome = run_scenarios(
      "Perf.Passes", {{"TRACE_PERF", "on"}, {"TRACE_PERF_JSON", folder_ / "perf"}, {"TRACE_PERF_PROM", folder_ / "perf"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.err, "TRACE_PERF_JSON=" + (folder_ / "perf") + " cannot be opened: Is a directory"), 1)
      << outcome.err;
  EXPECT_EQ(count(outcome.err, "TRACE_PERF_PROM: " + (folder_ / "perf") + " is there already"), 1) << outcome.err;
  EXPECT_EQ(names_in(folder_ / "").size(), 2u) << "the sums stand beside it";
}

// A file was written into it whose name began with a dot.
TEST_F(PerfFiles, APathThatEndsAsAFoldersIsToldOnce) {
  fs::create_directory(folder_ / "there");
  for (char const* const path : {"there/", "nowhere/", "there/%t/"}) {
    for (char const* const variable : {"TRACE_PERF_JSON", "TRACE_PERF_PROM"}) {
      std::string const err =
          run_scenarios("Perf.Passes:Perf.PassesOnceMore", {{"TRACE_PERF", "on"}, {variable, folder_ / path}}).err;
      EXPECT_EQ(count(err, std::string("testlog: ") + variable + "=" + (folder_ / "")), 1) << err;
      if (std::string_view(path) != "there/%t/") {
        EXPECT_EQ(count(err, "=" + (folder_ / path) + " cannot be opened: Is a directory"), 1) << err;
      }
    }
  }
  EXPECT_THAT(names_in(folder_ / ""), testing::ElementsAre("there"));
  EXPECT_TRUE(names_in(folder_ / "there/").empty());
}

// ---- many ----

TEST_F(PerfFiles, AForkedChildWritesNothing) {
  run_scenarios("Perf.Forks", {{"TRACE_PERF_PROM", folder_ / "perf.prom"}, {"TRACE_PERF_JSON", folder_ / "perf.jsonl"}});
  EXPECT_THAT(folder_.read("perf.prom"), HasSubstr("_count{name=\"cpu_ldg\"} 2\n"));
  EXPECT_EQ(count_objects(folder_.read("perf.jsonl"), true), 2);
  EXPECT_THAT(names_in(folder_ / ""), testing::UnorderedElementsAre("perf.prom", "perf.jsonl"));
}

// As under `ctest -j8`.
TEST_F(PerfFiles, ProcessesWithOnePathLoseNothingOfEachOther) {
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

// Runs `f` in a process of its own, which is killed after so long.
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

TEST_F(PerfFiles, AFileIsThereWholeOrNotAtAllWhereItsProcessIsKilled) {
  std::mt19937 random(3);
  std::string const text(100'000, 'x');
  std::size_t whole = 0;
  for (int turn = 0; turn < 300; ++turn) {
    kill_after(std::chrono::microseconds(random() % 2000), [&] {
      std::error_code error;
      for (;;) testlog::make_whole_file(folder_ / "file.prom", text, error);
    });
    for (std::string const& name : names_in(folder_ / "")) {
      if (!name.ends_with(".part")) {
        ASSERT_EQ(fs::file_size(folder_ / name), text.size()) << name;
        ++whole;
      }
      fs::remove(folder_ / name);
    }
  }
  EXPECT_GT(whole, 0u);
}

TEST_F(PerfFiles, LinesAreWholeButTheLastWhereTheirProcessIsKilled) {
  std::mt19937 random(4);
  Variables const variables{{"TRACE_PERF", "on"}, {"TRACE_SHOW", "none"}, {"TRACE_PERF_JSON", folder_ / "perf.jsonl"}};
  auto const began = std::chrono::steady_clock::now();
  run_scenarios("Perf.PassesOnceMore", variables);
  std::chrono::duration<double> const once = std::chrono::steady_clock::now() - began;
  int most = 0;
  for (int turn = 0; turn < 30; ++turn) {
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
