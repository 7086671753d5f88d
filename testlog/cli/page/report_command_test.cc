// `testlog report`: its arguments, its messages, and what is in the file.
#include <regex>
#include <string>
#include <vector>

#include "testlog/cli/page/report_test_support.h"

namespace testlog::cli::page { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReportCommand : public testing::Test {
 protected:
  std::string record(std::string const& name = "a.rec") {
    why::TestRecorder recorder(folder_ / name);
    work_and_fail(recorder);
    return folder_ / name;
  }
  Outcome report(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", folder_ / "report.html"});
    return run_command("report", arguments);
  }

  tracing_test::TemporaryFolder const folder_;
};

TEST_F(ReportCommand, WritesOneFileThatLoadsNothing) {
  Outcome const outcome = report({record()});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("report.html: 1 of 2 tests failed; the records of 2; "));
  std::string const page = folder_.read("report.html");
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'; script-src 'sha256-"), Not(HasSubstr("http://")),
                          Not(HasSubstr("https://")), Not(HasSubstr("Pool.Grows"))));
}

TEST_F(ReportCommand, HasASmallScript) {
  report({record()});
  std::string const page = folder_.read("report.html");
  auto const size_of = [&page](std::string const& tag) {
    std::size_t const begin = page.rfind("<" + tag + ">");
    return page.find("</" + tag + ">", begin) - begin;
  };
  EXPECT_LT(size_of("script") + size_of("style"), 60U << 10);
}

TEST_F(ReportCommand, SaysIfEvenTheListOfTestsIsTooLarge) {
  EXPECT_THAT(report({record(), "--max", "20k"}).err, HasSubstr("the page is larger than --max: "));
}

TEST_F(ReportCommand, SelectsTests) {
  std::string const file = record();
  EXPECT_THAT(report({file, "--test", "Pool.Shrinks"}).err, HasSubstr("; the records of 1; "));
  Outcome const none = report({file, "--test", "Nothing.*"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("testlog report: no test is selected"));
}

TEST_F(ReportCommand, ReportsMistakes) {
  std::string const file = record();
  EXPECT_THAT(report({file, "--max", "much"}).err, HasSubstr("--max"));
  Outcome const over = run_command("report", {file, "-o", file});
  EXPECT_EQ(over.exit_code, 2);
  EXPECT_THAT(over.err, HasSubstr("the output would overwrite the recording"));
  Outcome const missing = report({folder_ / "missing.rec"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("missing.rec: "));
  EXPECT_THAT(missing.err, HasSubstr("testlog report: no page was written, since no recording could be read\n"));
  EXPECT_THAT(run_command("report", {"4711-1"}).err, HasSubstr("testlog: report: "));
}

TEST_F(ReportCommand, ReadsFoldersAndTars) {
  record();
  ASSERT_EQ(run_command("pack", {folder_ / "a.rec", "-o", folder_ / "run.tar"}).exit_code, 0);
  EXPECT_THAT(report({folder_ / "run.tar"}).err, HasSubstr("1 of 2 tests failed; the records of 2; "));
  std::filesystem::remove(folder_ / "run.tar");
  EXPECT_THAT(report({folder_ / ""}).err, HasSubstr("1 of 2 tests failed; the records of 2; "));
}

}}  // namespace testlog::cli::page
