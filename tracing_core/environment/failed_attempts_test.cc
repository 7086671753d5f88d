#include "tracing_core/environment/failed_attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tracing_core/environment/ctest_run.h"
#include "tracing_core/record/ring/region.h"

namespace tracing::environment { namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::SizeIs;

class FailedAttempts : public testing::Test {
 protected:
  // Leaves a recording as a process does that has ended, or returns the region of a process that still runs.
  std::unique_ptr<internal::Region> record(std::string const& name = "a.rec") const {
    std::error_code error;
    auto region = internal::Region::make_file(folder_ / name, internal::Region::kMinBytes, error);
    EXPECT_NE(region, nullptr) << error.message();
    return region;
  }
  void keep(std::string const& name = "a.rec") const { keep_failed_attempt(folder_ / ".", name); }
  RunLog log() const { return RunLog(folder_ / "."); }
  // Returns the names of the files without the log; T stands for times.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(folder_ / ".")) {
      std::string const name = entry.path().filename();
      if (name.ends_with(".rec"))
        names.push_back(std::regex_replace(name, std::regex("[0-9]{8}-[0-9]{6}-[0-9]{3}"), "T"));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(FailedAttempts, GetNamesOfTheirOwn) {
  record();
  keep();
  EXPECT_THAT(files(), ElementsAre("a.T.attempt-1.rec"));
}

TEST_F(FailedAttempts, AreNumberedWithinTheirRun) {
  for (char const* const run : {"A", "B"}) {
    for (int i = 0; i < 2; ++i) {
      log().begin({run, true}, "a.rec", Instant::now());
      log().begin({run, true}, "b.rec", Instant::now());
      record();
      log().end({run, true}, "a.rec", Instant::now(), {.passed = false});
      keep();
    }
  }
  EXPECT_THAT(files(), testing::UnorderedElementsAre(
                           MatchesRegex("a.T.attempt-1(-2)?.rec"), MatchesRegex("a.T.attempt-1(-2)?.rec"),
                           MatchesRegex("a.T.attempt-2(-2)?.rec"), MatchesRegex("a.T.attempt-2(-2)?.rec")));
}

TEST_F(FailedAttempts, AreNotThoseThatPassed) {
  log().begin({"A", true}, "a.rec", Instant::now());
  record();
  log().end({"A", true}, "a.rec", Instant::now(), {});
  keep();
  EXPECT_THAT(files(), ElementsAre("a.rec"));
}

TEST_F(FailedAttempts, AreFoundInALongLog) {
  log().begin({"A", true}, "a.rec", Instant::now());
  record();
  log().end({"A", true}, "a.rec", Instant::now(), {});
  std::ofstream more(folder_ / "runs.log", std::ios::app);
  for (int i = 0; i < 100'000; ++i) more << "A " << Instant::now().ns << " begin of-another-test-with-a-name.rec\n";
  more.close();
  keep();
  EXPECT_THAT(files(), ElementsAre("a.rec")) << "it passed";
}

// `sudo ctest`, or one in a container, follows a ctest of the user.
TEST_F(FailedAttempts, StayIfAnotherUserMadeThem) {
  record();
  constexpr uid_t kOther = 65'534;
  if (chown((folder_ / "a.rec").c_str(), kOther, static_cast<gid_t>(-1)) != 0)
    GTEST_SKIP() << "only root can give a file to another user";
  keep();
  EXPECT_THAT(files(), ElementsAre("a.T.attempt-1.rec"));
}

TEST_F(FailedAttempts, KeepTheirNameWhileTheProcessRuns) {
  auto const running = record();
  keep();
  EXPECT_THAT(files(), ElementsAre("a.rec"));
}

TEST_F(FailedAttempts, AreRecordingsOnly) {
  folder_.write("a.rec", "some text that is longer than the head of a recording" + std::string(10'000, ' '));
  keep();
  EXPECT_THAT(files(), ElementsAre("a.rec"));
  keep("no such file.rec");
}

TEST_F(FailedAttempts, AreBoundedForEachTest) {
  record("a.b.rec");
  keep("a.b.rec");
  for (int i = 0; i < 2 * kMaxFailedAttempts; ++i) {
    record();
    keep();
  }
  EXPECT_THAT(files(), SizeIs(kMaxFailedAttempts + 1));
  EXPECT_THAT(files(), testing::Contains("a.b.T.attempt-1.rec")) << "it is of another test";
}

TEST_F(FailedAttempts, HaveAFileNameEvenIfTheTestHasALongName) {
  std::string const name = std::string(251, 'n') + ".rec";
  record(name);
  keep(name);
  EXPECT_THAT(files(), ElementsAre(MatchesRegex("n{215}\\.T\\.attempt-1\\.rec")));
}

TEST(NameOfAttempt, IsTheNameOfTheRecording) {
  struct Case {
    char const* file;
    char const* name;
  };
  for (Case const& c : {Case{"a.rec", "a.rec"}, Case{"a.20261127-150832-123.attempt-1.rec", "a.rec"},
                        Case{"a.b.20261127-150832-123.attempt-12-3.rec", "a.b.rec"},
                        Case{"a.20261127-150832.attempt-1.rec", "a.20261127-150832.attempt-1.rec"},
                        Case{".attempt-1.rec", ".attempt-1.rec"}, Case{"", ""}})
    EXPECT_EQ(name_of_attempt(c.file), c.name);
}

}}  // namespace tracing::environment
