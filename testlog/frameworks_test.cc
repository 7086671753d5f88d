// Programs with Catch2 and doctest that link testlog::catch2 and testlog::doctest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/summary/run_summary.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

namespace testlog::testdata { namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using tracing::testing::expect_approved;

struct Program {
  char const* name;
  char const* path;
  bool is_doctest() const { return std::string_view(name) == "doctest"; }
  std::string select(std::string const& test) const {
    std::string const escaped = std::regex_replace(test, std::regex(","), "\\,");
    return is_doctest() ? "--test-case=" + escaped : escaped;
  }
  std::vector<std::string> hidden(std::string const& test) const {
    std::vector<std::string> words{path, select(test)};
    if (is_doctest()) words.push_back("--no-skip");
    return words;
  }
  std::string file(std::string const& what) const {
    std::string file = "framework_" + what + "_" + name + ".txt";
    for (char& c : file) c = static_cast<char>(std::tolower(c));
    return file;
  }
};

class Frameworks : public ::testing::TestWithParam<Program> {
 protected:
  Outcome run_test(std::string const& test, Variables variables = {}) {
    variables.emplace_back("TRACE_TIME", "none");
    return run({GetParam().path, GetParam().select(test)}, variables);
  }
  Outcome run_hidden(std::string const& test, Variables const& variables = {}, std::vector<Step> const& steps = {}) {
    return run(GetParam().hidden(test), variables, steps);
  }
};

TEST_P(Frameworks, ReportAtTheFailureWhatTheLibraryDid) {
  Outcome const outcome = run_test("numbers divide, or not");
  EXPECT_NE(outcome.exit_code, 0);
  expect_approved(GetParam().file("fails"), std::regex_replace(outcome.err, std::regex("[^ ]*testdata/"), ""));
}

TEST_P(Frameworks, NameTheSpanThatAnExceptionLeft) {
  EXPECT_THAT(run_test("throws").err, HasSubstr("    thrown in divide{dividend=1 divisor=0}\n"));
}

TEST_P(Frameworks, ShowWhatTheFilterSelects) {
  Outcome const outcome = run_test("passes", {{"TRACE_FILTER", "trace"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("DEBUG divide{dividend=6 divisor=3}: "));
}

TEST_P(Frameworks, FailATestThatRecordedAnError) {
  EXPECT_EQ(run_test("swallows an error").exit_code, 0);
  Outcome const outcome = run_test("swallows an error", {{"TRACE_FAIL_ON", "error"}});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(std::regex_replace(outcome.out + outcome.err, std::regex("\\s+"), " "),
              HasSubstr("The test recorded an event of level error; TRACE_FAIL_ON is error"));
}

TEST_P(Frameworks, SayNothingOfATestThatMayFail) {
  Outcome const outcome = run_test("may fail");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr("captured records")));
}

TEST_P(Frameworks, GiveATestItsRecords) { EXPECT_EQ(run_test("has records").exit_code, 0); }

TEST_P(Frameworks, ReportACrashWithItsSpans) {
  if (TESTLOG_TSAN != 0) GTEST_SKIP() << "ThreadSanitizer reports that the framework's own handler allocates";
  Outcome const outcome = run_hidden("dies", with_sanitizer_options({{"TRACE_TIME", "none"}}, "handle_segv=0"));
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("---- SIGSEGV in dies: open spans"),
                                 HasSubstr("section{name=\"inside\"}:load"), HasSubstr("about to die")));
}

TEST_P(Frameworks, ReportAHang) {
  Outcome const outcome = run_hidden("hangs", {{"TRACE_HANG_AFTER", "0.3"}}, {{"---- end of", SIGKILL}});
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("hangs"), HasSubstr("wait{for=\"nobody\"}")));
}

TEST_P(Frameworks, OpenNothingIfTestsAreListed) {
  tracing_test::TemporaryFolder const folder;
  std::string const recording = folder / "run.rec";
  std::string const flag = GetParam().is_doctest() ? "--list-test-cases" : "--list-tests";
  Outcome const outcome = run({GetParam().path, flag}, {{"TRACE_RECORD", recording}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_FALSE(std::filesystem::exists(recording));
}

TEST_P(Frameworks, AreInTheirRecordingsAndInTheCommandThatRunsATestAgain) {
  tracing_test::TemporaryFolder const folder;
  std::string const recording = folder / "run.rec";
  Outcome const outcome = run_test("numbers divide, or not", {{"TRACE_RECORD", recording}});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(run({TESTLOG_COMMAND, "show", "--failed", recording}).out,
              HasSubstr("---- numbers divide, or not ----\n"));
  EXPECT_THAT(run({TESTLOG_COMMAND, "why", "--failing", recording, "--passing", recording}).err,
              HasSubstr(GetParam().path + std::string(" ") +
                        summary::selection_of(GetParam().name, {"numbers divide, or not"})));
}

std::vector<Program> programs() {
  return {
#ifdef TESTLOG_CATCH2_SCENARIOS
      {"Catch2", TESTLOG_CATCH2_SCENARIOS},
#endif
#ifdef TESTLOG_DOCTEST_SCENARIOS
      {"doctest", TESTLOG_DOCTEST_SCENARIOS},
#endif
  };
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Frameworks);
INSTANTIATE_TEST_SUITE_P(, Frameworks, ::testing::ValuesIn(programs()), [](auto const& of) { return of.param.name; });

TEST(Selection, IsWrittenAsTheFrameworkReadsIt) {
  std::vector<std::string> const tests{"a, b", "[c]"};
  EXPECT_EQ(summary::selection_of("Catch2 3.7.1", tests), "'a\\, b,\\[c]'");
  EXPECT_EQ(summary::selection_of("doctest", tests), "--test-case='a\\, b,[c]'");
  EXPECT_EQ(summary::selection_of("", {"A.b", "C.d"}), "--gtest_filter=A.b:C.d");
  EXPECT_EQ(summary::selection_of("GoogleTest", {"A/b.c/-1"}), "--gtest_filter='A/b.c/?1'");
}

}}  // namespace testlog::testdata
