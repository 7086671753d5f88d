// The owners of the files that programs write, and what other users can do to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "testlog/testdata/run.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::run;
using testlog::testdata::run_scenarios;
using testlog::testdata::Variables;

class PrivateFiles : public testing::Test {
 protected:
  Outcome shell(std::string const& command, Variables const& variables = {}) const {
    return run({"/bin/sh", "-c", "cd " + (folder_ / ".") + " && " + command}, variables);
  }
  // Returns the files in the folder and in the folders below it.
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (auto const& entry : fs::recursive_directory_iterator(folder_ / "")) {
      if (!entry.is_directory()) all.push_back(entry.path());
    }
    return all;
  }

  tracing_test::TemporaryFolder const folder_;
};

constexpr char kEveryFile[] =
    "TRACE_OUTPUT=out.log TRACE_CHROME=chrome/ TRACE_FLAME=flame/ TRACE_PERFETTO=perfetto/ TRACE_XPLANE=xplane/ "
    "TRACE_RECORD=a.rec TRACE_PERF=on TRACE_PERF_JSON=perf.json TRACE_PERF_PROM=perf.prom ";

TEST_F(PrivateFiles, AreAllThatAreWritten) {
  std::string const scenarios = TESTLOG_SCENARIOS " --gtest_filter=Plain.Fails:Perf.Passes";
  shell("umask 0; " + std::string(kEveryFile) + scenarios);
  shell(
      "umask 0; TRACE_CHROME=one.json TRACE_FLAME=one.folded TRACE_PERFETTO=one.pftrace TRACE_RECORD_DEFAULT=default/ "
      "TRACE_OUTPUT=%t.log TRACE_PERF_PROM=%t.prom " +
      scenarios);
#if defined(TESTLOG_COMMAND)
  Outcome const outcome = shell(
      "umask 0; for format in perfetto chrome folded json; do " TESTLOG_COMMAND
      " export a.rec --$format exported.$format; done; " TESTLOG_COMMAND
      " export a.rec --xplane exported; " TESTLOG_COMMAND " flame exported.folded -o exported.svg; " TESTLOG_COMMAND
      " pack a.rec -o exported.tar; " TESTLOG_COMMAND " repair exported.chrome -o exported.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
#endif
  auto const all = files();
  EXPECT_GT(all.size(), 20u);
  for (std::string const& file : all) {
    struct stat status {};
    EXPECT_EQ(stat(file.c_str(), &status), 0) << file;
    EXPECT_EQ(status.st_mode & 07777, 0600u) << file;
  }
}

// In a folder that others may write to, the names of our files are known beforehand.
TEST_F(PrivateFiles, InAFolderFollowNoLinkAndWaitForNoPipe) {
  std::string const names[] = {"chrome/Plain.Fails.json",
                               "flame/Plain.Fails.folded",
                               "perfetto/Plain.Fails.pftrace",
                               "xplane/plugins/profile/mine/Plain.Fails.xplane.pb",
                               "rec/testlog_scenarios.Plain.Fails.rec",
                               "rec/runs.log",
                               "Plain.Fails.log",
                               "Plain.Fails.jsonl",
                               "Plain.Fails.prom"};
  std::string const scenarios =
      "timeout 60 env TRACE_CHROME=chrome/ TRACE_FLAME=flame/ TRACE_PERFETTO=perfetto/ "
      "TRACE_XPLANE=xplane/plugins/profile/mine/ "
      "TRACE_RECORD_DEFAULT=rec/ TRACE_PERF=on TRACE_PERF_JSON=%t.jsonl TRACE_PERF_PROM=%t.prom "
      "TRACE_OUTPUT=%t.log " TESTLOG_SCENARIOS " --gtest_filter=Plain.Fails";
  std::string const victim = folder_.write("victim", "precious");
  for (std::string const plant : {"link", "dangling link", "second name", "pipe"}) {
    for (std::string const& name : names) {
      fs::path const path = folder_ / name;
      fs::create_directories(path.parent_path());
      fs::remove(path);
      if (plant == "link") fs::create_symlink(victim, path);
      if (plant == "dangling link") fs::create_symlink(folder_ / "missing", path);
      if (plant == "second name") fs::create_hard_link(victim, path);
      if (plant == "pipe") mkfifo(path.c_str(), 0600);
    }
    Outcome const outcome = shell(scenarios);
    EXPECT_EQ(outcome.exit_code, 1) << plant << "\n" << outcome.err;
    EXPECT_EQ(folder_.read("victim"), "precious") << plant;
    EXPECT_FALSE(fs::exists(folder_ / "missing")) << plant;
    for (std::string const& name : names) {
      bool const is_recording = name.ends_with(".rec");
      EXPECT_EQ(fs::is_regular_file(fs::symlink_status(folder_ / name)), is_recording || plant == "second name")
          << plant << name;
    }
    for (char const* const variable : {"TRACE_FLAME=", "TRACE_OUTPUT="})
      EXPECT_THAT(outcome.err, HasSubstr("testlog: " + std::string(variable))) << plant;
    EXPECT_THAT(outcome.err, HasSubstr("chrome/Plain.Fails.json already exists; writing ")) << plant;
    for (std::string const& name : names) fs::remove(folder_ / name);
  }
}

TEST_F(PrivateFiles, NamedInFullFollowNoLink) {
  std::string const victim = folder_.write("victim", "precious");
  for (std::string const variable : {"TRACE_OUTPUT", "TRACE_FLAME", "TRACE_PERF_JSON"}) {
    fs::create_symlink(victim, folder_ / variable);
    EXPECT_THAT(run_scenarios("Perf.Passes", {{"TRACE_PERF", "on"}, {variable, folder_ / variable}}).err,
                HasSubstr("testlog: " + variable + "=" + (folder_ / variable) +
                          ": could not be opened: it is a symbolic link, which is not followed; expected "))
        << variable;
    EXPECT_EQ(folder_.read("victim"), "precious") << variable;
  }
}

TEST_F(PrivateFiles, MayBeOfTheSystemAndPipesThatAreNamedInFull) {
  std::string const scenarios = " TRACE_TIME=none " TESTLOG_SCENARIOS " --gtest_filter=Plain.Passes";
  EXPECT_THAT(shell("TRACE_OUTPUT=/dev/stderr" + scenarios).err, HasSubstr(" INFO launch"));
  EXPECT_THAT(shell("TRACE_OUTPUT=/dev/stdout" + scenarios).out, HasSubstr(" INFO launch"));
  EXPECT_EQ(shell("TRACE_OUTPUT=/dev/null" + scenarios).err, "");
  shell("3>>third TRACE_OUTPUT=/dev/fd/3" + scenarios);
  EXPECT_THAT(folder_.read("third"), HasSubstr(" INFO launch"));
  shell("TRACE_OUTPUT=/proc/self/fd/2" + scenarios + " 2>>redirected");
  EXPECT_THAT(folder_.read("redirected"), HasSubstr(" INFO launch"));
  for (std::string const variable : {"TRACE_OUTPUT", "TRACE_CHROME", "TRACE_PERFETTO", "TRACE_FLAME"}) {
    EXPECT_THAT(shell("mkfifo pipe; cat pipe & " + variable + "=pipe" + scenarios + " >/dev/null; wait; rm pipe").out,
                HasSubstr("launch"))
        << variable;
  }
  EXPECT_THAT(files(), testing::SizeIs(2));
}

TEST_F(PrivateFiles, AreContinuedByLaterRuns) {
  folder_.write("out.log", "before\n");
  fs::permissions(folder_ / "out.log", fs::perms(0640));
  run_scenarios("Plain.Passes", {{"TRACE_OUTPUT", folder_ / "out.log"}});
  EXPECT_THAT(folder_.read("out.log"), AllOf(testing::StartsWith("before\n"), HasSubstr(" INFO launch")));
  EXPECT_EQ(fs::status(folder_ / "out.log").permissions(), fs::perms(0640)) << "who may read it is up to the user";
}

}  // namespace
