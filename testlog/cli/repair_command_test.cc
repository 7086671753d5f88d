// `testlog repair` as it is run: what it writes, what it says, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::HasSubstr;
using testlog::testdata::Outcome;
using tracing_test::TemporaryFolder;

Outcome repair(std::vector<std::string> const& arguments) { return testlog::testdata::run_command("repair", arguments); }

constexpr char const* kWhole = "[\n{\"name\":\"x\"},\n{\"name\":\"y\"}\n]\n";

TEST(RepairCommand, MakesATraceWhole) {
  TemporaryFolder const folder;
  std::string const broken = folder.write("trace.json", "[\n{\"name\":\"x\"},\n{\"name\":\"y\"},\n{\"name");
  Outcome const outcome = repair({broken, "-o", folder / "whole.json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "testlog repair: 2 records; left out 1 piece of 6 bytes; it was not closed\n");
  EXPECT_EQ(folder.read("whole.json"), kWhole);
  EXPECT_EQ(repair({broken}).out, kWhole);
}

TEST(RepairCommand, SaysThatATraceWasWhole) {
  TemporaryFolder const folder;
  Outcome const outcome = repair({folder.write("trace.json", kWhole)});
  EXPECT_EQ(outcome.out, kWhole);
  EXPECT_EQ(outcome.err, "testlog repair: 2 records: it was whole\n");
}

TEST(RepairCommand, SaysWhatItPutRight) {
  TemporaryFolder const folder;
  for (auto const& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"[\n{\"name\":\"x\"},\n{\"name\":\"y\"},\n]\n", "commas and brackets put right: 1"},
           {"[\n{\"name\":\"x\"} {\"name\":\"y\"}\n]", "commas and brackets put right: 1"},
           {"[{\"name\":\"x\"},,{\"name\":\"y\"}]", "commas and brackets put right: 1"},
           {"[{\"name\":\"x\"}][{\"name\":\"y\"}", "commas and brackets put right: 1; it was not closed"}}) {
    Outcome const outcome = repair({folder.write("trace.json", text)});
    EXPECT_EQ(outcome.out, kWhole);
    EXPECT_EQ(outcome.err, "testlog repair: 2 records; " + said + "\n") << text;
  }
}

// Its process was killed between making the file and writing to it.
TEST(RepairCommand, MakesAnEmptyListOfAnEmptyFile) {
  TemporaryFolder const folder;
  std::string const trace = folder.write("trace.json", "");
  Outcome const outcome = repair({trace, "-o", trace});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "testlog repair: 0 records: it was empty\n");
  EXPECT_EQ(folder.read("trace.json"), "[\n]\n");
}

TEST(RepairCommand, FailsWhereItCannotReadOrWrite) {
  TemporaryFolder const folder;
  std::string const trace = folder.write("trace.json", kWhole);
  std::string const folded = folder.write("run.folded", "main;load 12\n");
  for (auto const& [arguments, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{folder / "none.json"}, "cannot read " + (folder / "none.json") + ": No such file or directory"},
           {{folder / ""}, "Is a directory"},
           {{folded, "-o", folder / "out.json"}, "is no Chrome trace: those begin with `[`"},
           {{trace, "-o", "/dev/full"}, "cannot write /dev/full: No space left on device"},
           {{trace, "-o", folder / "no/such"}, "No such file or directory"}}) {
    Outcome const outcome = repair(arguments);
    EXPECT_EQ(outcome.exit_code, 1) << said;
    EXPECT_THAT(outcome.err, HasSubstr(said));
  }
  EXPECT_EQ(folder.read("out.json"), "");
}

TEST(RepairCommand, MakesAFileWholeInItsPlace) {
  TemporaryFolder const folder;
  std::string text = "[\n{\"long\":\"" + std::string(1'000'000, 'x') + "\"}";  // more than is read at once
  std::string const trace = folder.write("trace.json", text + ",\n{\"name");
  Outcome outcome = repair({trace, "-o", trace});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "testlog repair: 1 record; left out 1 piece of 6 bytes; it was not closed\n");
  EXPECT_EQ(folder.read("trace.json"), text + "\n]\n");
  outcome = repair({trace, "-o", trace});
  EXPECT_EQ(outcome.err, "testlog repair: 1 record: it was whole\n");
  EXPECT_EQ(folder.read("trace.json"), text + "\n]\n");
}

TEST(RepairCommand, LeavesWhatIsNoTraceInItsPlace) {
  TemporaryFolder const folder;
  std::string const folded = folder.write("run.folded", "main;load 12\n");
  EXPECT_EQ(repair({folded, "-o", folded}).exit_code, 1);
  EXPECT_EQ(folder.read("run.folded"), "main;load 12\n");
}

// What cannot be replaced would be empty before it is read.
TEST(RepairCommand, NeverWritesIntoTheFileThatItReads) {
  TemporaryFolder const folder;
  std::string const trace = folder.write("trace.json", kWhole);
  std::string const link = folder / "stdout";
  std::filesystem::create_symlink("/proc/self/fd/1", link);
  Outcome const outcome = testlog::testdata::run(
      {"/bin/sh", "-c", TESTLOG_COMMAND " repair " + trace + " -o " + link + " >> " + trace + "; echo ended with $? >&2"});
  EXPECT_THAT(outcome.err, HasSubstr("testlog: repair cannot write to the file that it reads: " + link + "\n"));
  EXPECT_THAT(outcome.err, HasSubstr("ended with 2\n"));
  EXPECT_EQ(folder.read("trace.json"), kWhole);
}

}  // namespace
