// Programs whose memory, file sizes or address space are limited: what is captured, and what they say about the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "testlog/testdata/run.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testlog::testdata::Outcome;
using testlog::testdata::Variables;

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    if (TESTLOG_ASAN != 0 || TESTLOG_TSAN != 0) GTEST_SKIP() << "sanitizers need more memory";
  }
  // Runs scenarios in a shell after `limit`.
  Outcome run_after(std::string const& limit, std::string const& filter, Variables variables = {}) const {
    variables.emplace_back("TRACE_TIME", "none");
    variables.emplace_back("TRACE_SHOW", "failed");
    return testlog::testdata::run(
        {"/bin/sh", "-c", "ulimit -c 0; " + limit + "; exec " TESTLOG_SCENARIOS " --gtest_filter=" + filter},
        variables);
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(Limits, LeaveRoomForCaptureIfAddressesAreLimited) {
  Variables const in_file{{"TRACE_RECORD_DEFAULT", folder_ / "recordings/"}};
  for (Variables const& variables : {Variables(), in_file}) {
    for (char const* const limit : {"ulimit -v 190000", "ulimit -v 100000", "ulimit -d 40000"}) {
      Outcome const outcome = run_after(limit, "Plain.Fails", variables);
      EXPECT_THAT(outcome.err, HasSubstr("DEBUG outer{id=7}:inner: scenarios: after the failure\n")) << limit;
      EXPECT_THAT(outcome.err, Not(HasSubstr("overwritten"))) << limit;
    }
  }
}

TEST_F(Limits, AreNamedWhenAddressesRunOut) {
  Outcome const outcome = run_after("ulimit -v 100000", "Captured.TooMuchFails", {{"TRACE_RECORD_LIMIT", "1G"}});
  EXPECT_THAT(outcome.err, Not(HasSubstr("TRACE_RECORD_LIMIT")));
  EXPECT_THAT(run_after("ulimit -v 100000", "Captured.TooMuchFails", {{"TRACE_RECORD_LIMIT", "256K"}}).err,
              HasSubstr(" earlier records were overwritten (TRACE_RECORD_LIMIT) ----\n"));
}

// As long as the program itself has memory, it reports its failures, or says why not.
TEST_F(Limits, AreNeverSilent) {
  int started = 0;
  for (int kilobytes = 100'000; kilobytes > 3'000; kilobytes = kilobytes * 9 / 10) {
    Outcome const outcome = run_after("ulimit -v " + std::to_string(kilobytes), "Plain.Fails");
    if (outcome.out.find("[  FAILED  ] Plain.Fails (") == outcome.out.npos) break;
    ++started;
    EXPECT_THAT(outcome.err, AnyOf(HasSubstr("scenarios: after the failure\n"),
                                   HasSubstr("---- nothing is captured: there was no memory ----\n")))
        << kilobytes;
  }
  EXPECT_GT(started, 3);
}

TEST_F(Limits, LeaveTheSpansOfACrash) {
  EXPECT_THAT(run_after("ulimit -v 190000", "Dies.ByTerminate").err, HasSubstr(") died in outer\n"));
}

TEST_F(Limits, AreNamedWhenAFileIsFull) {
  Variables const variables{{"TRACE_RECORD", folder_ / "a.rec"}};
  Outcome const outcome = run_after("ulimit -f 1000", "Captured.TooMuchFails", variables);  // 512,000 bytes
  EXPECT_THAT(
      outcome.err,
      HasSubstr(" earlier records were overwritten (the recording could not grow: File too large (ulimit -f)) ----\n"));
  EXPECT_GT(std::filesystem::file_size(folder_ / "a.rec"), 450'000u) << "what there was room for is used";
#if defined(TESTLOG_COMMAND)
  Outcome const shown = testlog::testdata::run({TESTLOG_COMMAND, "show", folder_ / "a.rec", "--filter=off"});
  EXPECT_THAT(
      shown.err,
      HasSubstr(" earlier records were overwritten; the recording could not grow: File too large (ulimit -f)\n"));
#endif
}

TEST(NothingCaptured, IsSaidOfTheSpansOfACrash) {
  Outcome const outcome =
      testlog::testdata::run_dying("Dies.ByOtherSignals", {{"SCENARIO_SIGNAL", "11"}, {"TRACE_CAPTURE", "off"}});
  EXPECT_THAT(outcome.err, HasSubstr(") died in no known span; nothing is captured: TRACE_CAPTURE is off\n"));
}

}  // namespace
