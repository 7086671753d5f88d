// The Markdown for the page of a job: its limits, hostile values, and how a renderer and a browser show it.
#include "testlog/cli/ci/job_summary.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "testlog/cli/ci/ci_test_support.h"
#include "testlog/cli/ci/report_run.h"
#include "testlog/testdata/run.h"
#include "tests/approval.h"
#include "tests/support/browser.h"
#include "tests/support/temporary_folder.h"

namespace testlog::cli { namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testlog::testdata::content_of;
using testlog::testdata::count;

CiSettings const kGithub{.service = CiService::github, .root = "/repository"};

std::vector<std::string> long_report(summary::TestOutcome const& test) {
  return std::vector<std::string>(40, std::string(100, 'r') + test.name);
}

// A run as a project may have it.
summary::RunSummary usual_run() {
  std::vector<summary::TestOutcome> tests;
  for (char const* const name : {"Solver.Converges", "Solver.Restarts", "Scan.Wide", "Scan.Narrow"}) {
    summary::TestOutcome test =
        failed_test(name, "Expected equality of these values:\n  status\n    Which is: 700\n  0",
                    "/repository/src/solver_test.cc", 41);
    summary::set_span_path(test, "solve{size=4096}:launch{kernel=reduce}");
    test.error = "driver: CUDA_ERROR_INVALID_VALUE";
    test.error_place = "driver.cc:9";
    tests.push_back(test);
  }
  summary::TestOutcome hung = failed_test("Pool.Drains", "");
  hung.how = "hung";
  hung.place.clear();
  hung.result = summary::Result::hung;
  hung.duration_ns = 60'000'000'000;
  tests.push_back(hung);
  tests.push_back(flaky_test("Pool.Grows"));
  for (int i = 0; i < 20; ++i) {
    summary::TestOutcome passed{.name = "Scan.Size" + std::to_string(i), .program = "scan_test"};
    passed.duration_ns = i * 12'000'000;
    tests.push_back(passed);
  }
  summary::RunSummary run = run_of(std::move(tests));
  run.causes[0].why = {
      "solve: size is 4096; 1024 in 3 of 3 passing runs (solver.cc:12, main, 1.204 ms before the failure)"};
  run.commands = {"testlog why", "testlog show --failed"};
  return run;
}

std::vector<std::string> usual_report(summary::TestOutcome const& test) {
  return {"---- " + test.name + " ----",
          "  +0.052 ms DEBUG solve{size=4096}: solver: begins",
          "  +0.073 ms ERROR solve{size=4096}:launch{kernel=reduce}: driver: CUDA_ERROR_INVALID_VALUE",
          "src/solver_test.cc:41: Failure",
          "  Expected equality of these values:",
          "---- " + test.name + " failed (1500 ms) ----"};
}

TEST(JobSummary, LooksAsApproved) {
  CiSettings settings = kGithub;
  settings.artifact = "report.html";
  tracing::testing::expect_approved("job_summary.md", job_summary(usual_run(), settings, usual_report));
}

TEST(JobSummary, IsEmptyIfAllPassed) {
  summary::TestOutcome test = failed_test("Pool.Grows");
  test.result = summary::Result::passed;
  EXPECT_EQ(job_summary(run_of({test}), kGithub, no_report), "");
}

TEST(JobSummary, KeepsItsLimit) {
  summary::RunSummary const run = run_with_failures(200);
  std::size_t const whole = job_summary(run, kGithub, long_report).size();
  std::size_t const needed = whole + 100;  // a count of what is left out would have room, too
  for (std::size_t const limit : {needed - 1, needed, needed + 1}) {
    std::string const text = job_summary(run, kGithub, long_report, limit);
    EXPECT_LE(text.size(), limit);
    EXPECT_EQ(count(text, "<pre>"), 100 - (limit < needed ? 1 : 0)) << "a report less";
  }
  for (std::size_t limit = 0; limit <= whole; limit += whole / 20)
    EXPECT_LE(job_summary(run, kGithub, long_report, limit).size(), limit);
  std::string const head = job_summary(run, kGithub, long_report, 250);
  for (std::size_t limit = head.size() - 1; limit <= head.size() + 1; ++limit)
    EXPECT_EQ(job_summary(run, kGithub, no_report, limit).size(), limit < head.size() ? 0 : head.size()) << limit;
}

TEST(JobSummary, LeavesOutReportsThenNamesThenCounts) {
  summary::RunSummary const run = run_with_failures(200);
  std::string const names = job_summary(run, kGithub, no_report);
  std::string const few = job_summary(run, kGithub, long_report, names.size() + 10'000);
  EXPECT_EQ(count(few, "<pre>"), 2);
  EXPECT_EQ(count(few, "<details><summary>1 test:"), 200);
  std::string const counted = job_summary(run, kGithub, long_report, names.size() / 2);
  EXPECT_EQ(count(counted, "<pre>"), 0);
  EXPECT_THAT(counted, testing::ContainsRegex("and [0-9]+ more causes of [0-9]+ tests"));
}

TEST(JobSummary, HasRoomForTenThousandFailures) {
  std::string const text = job_summary(run_with_failures(10'000), kGithub, long_report);
  EXPECT_LE(text.size(), kMaxSummaryBytes);
  EXPECT_GT(text.size(), kMaxSummaryBytes / 2);
  EXPECT_THAT(text, StartsWith("### testlog: 10000 of 10000 tests failed\n"));
  std::vector<summary::TestOutcome> tests;
  for (int i = 0; i < 10'000; ++i) tests.push_back(failed_test("Pool.Test" + std::to_string(i)));
  std::string const one = job_summary(run_of(std::move(tests)), kGithub, long_report);
  EXPECT_LE(one.size(), 100'000u);
  EXPECT_THAT(one, HasSubstr("- and 9900 more tests\n"));
}

TEST(JobSummary, HasNoMarkupOfValues) {
  std::string const text = job_summary(hostile_run(), kGithub, hostile_report);
  EXPECT_LE(text.size(), kMaxSummaryBytes);
  for (std::string_view const markup : {"<script", "<b>", "\x1b", "\xff", "\xe2\x80\xa8"})
    EXPECT_THAT(text, Not(HasSubstr(std::string(markup)))) << markup;
  std::string markdown;  // without reports, of which HTML alone could make something else
  for (std::size_t at = 0, pre = 0; pre != text.npos; at = text.find("</pre>", pre)) {
    pre = text.find("<pre>", at);
    markdown += text.substr(at, pre - at);
  }
  for (std::string_view const markup : {"##[", "##vso", "::error", "](y)", "@user", "https:", "` *"})
    EXPECT_THAT(markdown, Not(HasSubstr(std::string(markup)))) << markup;
  EXPECT_EQ(count(text, "<details>"), count(text, "</details>"));
  EXPECT_EQ(count(text, "<pre>"), count(text, "</pre>"));
}

TEST(JobSummary, IsAppendedByOneProcessAfterTheOther) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder / "summary.md";
  std::ofstream(path) << "of another step\n";
  std::vector<std::thread> threads;
  for (char const c : {'a', 'b', 'c', 'd'})
    threads.emplace_back([&path, c] {
      EXPECT_FALSE(append_summary(path, [c](std::size_t) { return std::string(100'000, c) + "\n"; }));
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> const lines = lines_of(content_of(path));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "of another step");
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(lines[i], std::string(100'000, lines[i][0]));
}

TEST(JobSummary, LeavesTheFileBelowAMegabyte) {
  tracing_test::TemporaryFolder const folder;
  std::string const path = folder / "summary.md";
  constexpr std::size_t kMaxFile = 1000 << 10;
  for (std::size_t const left : {std::size_t{0}, std::size_t{1}, kMaxSummaryBytes - 1, kMaxSummaryBytes}) {
    std::ofstream(path, std::ios::trunc) << std::string(kMaxFile - left, 'x');
    std::size_t given = 0;
    EXPECT_FALSE(append_summary(path, [&given](std::size_t max) { return given = max, std::string(max, 'y'); }));
    EXPECT_EQ(given, left);
    EXPECT_EQ(std::filesystem::file_size(path), kMaxFile);
  }
  std::ofstream(path, std::ios::trunc) << std::string(kMaxFile + 1, 'x');
  EXPECT_FALSE(append_summary(path, [](std::size_t max) { return std::string(max, 'y'); }));
  EXPECT_EQ(std::filesystem::file_size(path), kMaxFile + 1);
  EXPECT_TRUE(append_summary("/no such folder/summary.md", [](std::size_t) { return std::string(); }));
}

TEST(JobSummary, IsShownAsMeantInABrowser) {
  std::string const browser = tracing_test::find_browser();
  if (browser.empty()) GTEST_SKIP() << "there is no Chromium";
  if (testlog::testdata::run({"/usr/bin/env", "cmark-gfm", "--version"}).exit_code != 0)
    GTEST_SKIP() << "there is no cmark-gfm, which renders Markdown as GitHub does";
  tracing_test::TemporaryFolder const folder;
  auto const render = [&](summary::RunSummary const& run, ReportOf const& report_of) {
    std::ofstream(folder / "a.md") << job_summary(run, kGithub, report_of);
    testlog::testdata::Outcome const html =
        testlog::testdata::run({"/usr/bin/env", "cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e",
                                "strikethrough", folder / "a.md"});
    std::ofstream(folder / "a.html")
        << "<!DOCTYPE html><meta charset=utf-8><style>body{font:14px/1.5 sans-serif;margin:16px 24px;color:#1f2328}"
           "table{border-collapse:collapse;margin-bottom:16px}td,th{border:1px solid #d1d9e0;padding:6px 13px}"
           "code,pre{font:12px monospace;background:#eff1f3;border-radius:6px}code{padding:2px 5px}"
           "pre{padding:12px;line-height:1.45}</style>"
        << html.out;
    return "file://" + (folder / "a.html");
  };
  tracing_test::Browser page(browser, 1000, 560);
  page.open(render(usual_run(), usual_report));
  EXPECT_EQ(page.evaluate("document.querySelectorAll('body > details').length"), 3);
  EXPECT_EQ(page.evaluate("document.querySelector('h3').textContent"), "testlog: 5 of 26 tests failed, 1 flaky");
  EXPECT_EQ(page.evaluate("document.querySelector('td:nth-child(2)').textContent"), "4");
  EXPECT_EQ(page.evaluate("document.querySelector('li code').textContent"), "Solver.Converges");
  if (char const* const screenshots = std::getenv("TESTLOG_SCREENSHOTS")) {
    page.evaluate(
        "document.querySelectorAll('body > details:first-of-type, body > details:first-of-type "
        "details:first-of-type').forEach(d => d.open = true)");
    std::ofstream(std::string(screenshots) + "/ci-summary.png") << page.screenshot();
  }
  page.open(render(hostile_run(), hostile_report));
  EXPECT_EQ(page.evaluate("document.querySelectorAll('script, b, img, a, em').length"), 0);
  EXPECT_EQ(page.evaluate("[...document.querySelectorAll('body > *')].filter(e => e.tagName == 'DETAILS').length"),
            hostile_run().causes.size() + 1);
  EXPECT_THAT(page.requests(), testing::SizeIs(2)) << "the pages alone";
}

}}  // namespace testlog::cli
