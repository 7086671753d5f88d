// `testlog repair`: its output, its messages and its exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/support/campaign.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/export/chrome.h"
#include "tracing_core/tracing.h"

namespace {

using testing::HasSubstr;
using testlog::testdata::Outcome;
using tracing_test::TemporaryFolder;

Outcome repair(std::vector<std::string> const& arguments) {
  return testlog::testdata::run_command("repair", arguments);
}

constexpr char const* kComplete = "[\n{\"name\":\"x\"},\n{\"name\":\"y\"}\n]\n";

TEST(RepairCommand, RepairsATrace) {
  TemporaryFolder const folder;
  std::string const broken = folder.write("trace.json", "[\n{\"name\":\"x\"},\n{\"name\":\"y\"},\n{\"name");
  Outcome const outcome = repair({broken, "-o", folder / "repaired.json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "testlog repair: 2 records; left out 1 piece of 6 bytes; the list was not closed\n");
  EXPECT_EQ(folder.read("repaired.json"), kComplete);
  EXPECT_EQ(repair({broken}).out, kComplete);
}

TEST(RepairCommand, KeepsACompleteTrace) {
  TemporaryFolder const folder;
  Outcome const outcome = repair({folder.write("trace.json", kComplete)});
  EXPECT_EQ(outcome.out, kComplete);
  EXPECT_EQ(outcome.err, "testlog repair: 2 records\n");
}

TEST(RepairCommand, MakesAnEmptyListFromAnEmptyFile) {
  TemporaryFolder const folder;
  std::string const trace = folder.write("trace.json", "");
  Outcome const outcome = repair({trace, "-o", trace});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "testlog repair: 0 records; the list was not closed\n");
  EXPECT_EQ(folder.read("trace.json"), "[\n]\n");
}

TEST(RepairCommand, ReportsFilesThatCannotBeReadOrWritten) {
  TemporaryFolder const folder;
  std::string const trace = folder.write("trace.json", kComplete);
  std::string const folded = folder.write("run.folded", "main;load 12\n");
  for (auto const& [arguments, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{folder / "none.json"}, "cannot read " + (folder / "none.json") + ": No such file or directory"},
           {{folder / ""}, "Is a directory"},
           {{folded, "-o", folder / "out.json"}, "is not a Chrome trace; expected `[` at its beginning"},
           {{trace, "-o", "/dev/full"}, "cannot write /dev/full: No space left on device"},
           {{trace, "-o", folder / "no/such"}, "No such file or directory"}}) {
    Outcome const outcome = repair(arguments);
    EXPECT_EQ(outcome.exit_code, 1) << said;
    EXPECT_THAT(outcome.err, HasSubstr(said));
  }
  EXPECT_EQ(folder.read("out.json"), "");
}

TEST(RepairCommand, RepairsAFileInPlace) {
  TemporaryFolder const folder;
  std::string text = "[\n{\"long\":\"" + std::string(1'000'000, 'x') + "\"}";  // more than is read at once
  std::string const trace = folder.write("trace.json", text + ",\n{\"name");
  Outcome outcome = repair({trace, "-o", trace});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "testlog repair: 1 record; left out 1 piece of 6 bytes; the list was not closed\n");
  EXPECT_EQ(folder.read("trace.json"), text + "\n]\n");
  outcome = repair({trace, "-o", trace});
  EXPECT_EQ(outcome.err, "testlog repair: 1 record\n");
  EXPECT_EQ(folder.read("trace.json"), text + "\n]\n");
}

TEST(RepairCommand, KeepsAFileThatIsNotATrace) {
  TemporaryFolder const folder;
  std::string const folded = folder.write("run.folded", "main;load 12\n");
  EXPECT_EQ(repair({folded, "-o", folded}).exit_code, 1);
  EXPECT_EQ(folder.read("run.folded"), "main;load 12\n");
}

TEST(RepairCommand, RefusesToWriteToTheFileBeingRead) {
  TemporaryFolder const folder;
  std::string const trace = folder.write("trace.json", kComplete);
  std::filesystem::create_symlink(trace, folder / "link");
  Outcome const outcome = repair({trace, "-o", folder / "link"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("testlog: repair: cannot write to the file being read: " + (folder / "link") + "\n"));
  EXPECT_EQ(folder.read("trace.json"), kComplete);
}

// Kills processes while they write records of several pages.
TEST(RepairCommand, RepairsTracesOfKilledProcesses) {
  TemporaryFolder const folder;
  std::string const trace = folder / "trace.json";
  std::mt19937 random(20261122);
  for (int turn = 0; turn < tracing_test::campaign(100, 5); ++turn) {
    pid_t const child = fork();
    if (child == 0) {
      alarm(60);
      auto [chrome, guard] = tracing::chrome_layer({.path = trace});
      tracing::with_default(tracing::RegistryBuilder().with(std::move(chrome)).build(), [] {
        for (std::size_t i = 0;; ++i) TRACE_INFO("record", i, tracing::kv("text", std::string(i * 977 % 20'000, '"')));
      });
    }
    std::error_code error;
    while (std::filesystem::file_size(trace, error) < 100'000 || error)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    std::string const text = folder.read("trace.json");
    Outcome const outcome = repair({trace});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.err, HasSubstr("; the list was not closed"));
    auto const records = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_TRUE(records.is_array());
    std::size_t const lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_GE(records.size() + 1, lines) << "at most the last record was left out";
    std::filesystem::remove(trace);
  }
}

}  // namespace
