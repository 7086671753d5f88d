// Runs for the tests of what CI services get.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "testlog/cli/ci/annotations.h"
#include "testlog/summary/recorded_tests.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

/// Values that services might take for something else.
inline std::vector<std::string> hostile_texts() {
  return {"::error file=x::injected",
          "\n::error::injected",
          "\r\n::set-output name=a::b",
          "##[error]injected",
          "##vso[task.complete result=Succeeded;]",
          "##teamcity[buildStatus text='injected']",
          "'] ##teamcity[x y='|'",
          "a]b;c,d:e%0Af%25g",
          "]]></failure><failure>",
          "</pre></details></script><script>alert(1)</script>",
          "\x1b[0Ksection_end:1:x\r\x1b[0K",
          "\xff\xfe\x80 \xc3",
          "\xe2\x80\xa8 and \xe2\x80\xa9 and \xef\xbf\xbe",
          std::string("zero\0byte", 9),
          "| ` * _ @user https://example.org <b>bold</b> &amp; ![x](y)",
          std::string(1 << 20, 'x')};
}

inline summary::TestOutcome failed_test(std::string const& name, std::string const& message = "Value of: false",
                                        std::string const& file = "/repository/pool_test.cc", int line = 7) {
  summary::TestOutcome test{.name = name, .program = "pool_test", .key = "pool_test." + name};
  test.result = summary::Result::failed;
  test.recording = "/repository/build/" + test.key + ".rec";
  summary::set_failure(test, file, line, message);
  test.duration_ns = 1'500'000'000;
  return test;
}

inline summary::TestOutcome flaky_test(std::string const& name) {
  summary::TestOutcome test = failed_test(name);
  test.result = summary::Result::passed;
  test.is_flaky = true;
  test.attempts = {{.number = 1, .result = summary::Result::failed, .message = "Value of: false"}, {.number = 2}};
  return test;
}

inline summary::RunSummary run_of(std::vector<summary::TestOutcome> tests) {
  summary::RunSummary run{.id = "4711-1", .folder = "/repository/build", .tests = std::move(tests)};
  run.test_count = run.tests.size();
  for (summary::TestOutcome const& test : run.tests) {
    run.failed_count += summary::is_failure(test.result) ? 1 : 0;
    run.flaky_count += test.is_flaky ? 1 : 0;
  }
  run.causes = summary::causes_of(run.tests);
  run.commands = {"testlog show --failed"};
  return run;
}

/// Returns a run in which `count` tests failed, each at another place.
inline summary::RunSummary run_with_failures(std::size_t count) {
  std::vector<summary::TestOutcome> tests;
  for (std::size_t i = 0; i < count; ++i)
    tests.push_back(failed_test("Pool.Test" + std::to_string(i), "failure " + std::to_string(i),
                                "/repository/pool_test.cc", static_cast<int>(i) + 1));
  return run_of(std::move(tests));
}

/// Returns a run with all texts of a failed test hostile.
inline summary::RunSummary hostile_run() {
  std::vector<summary::TestOutcome> tests;
  for (std::string const& text : hostile_texts()) {
    summary::TestOutcome test = failed_test(text, text, "/repository/" + text, 3);
    test.program = text;
    test.error = text;
    test.error_place = text;
    summary::set_span_path(test, text);
    summary::TestOutcome flaky = test;
    flaky.result = summary::Result::passed;
    flaky.is_flaky = true;
    flaky.attempts = {{.number = 1, .result = summary::Result::failed, .message = text}, {.number = 2}};
    tests.push_back(std::move(test));
    tests.push_back(std::move(flaky));
  }
  summary::RunSummary run = run_of(std::move(tests));
  for (std::size_t i = 0; i < run.causes.size(); ++i)
    run.causes[i].why = {run.tests[run.causes[i].tests.front()].message};
  return run;
}

inline std::vector<std::string> no_report(summary::TestOutcome const&) { return {}; }
inline std::vector<std::string> hostile_report(summary::TestOutcome const& test) { return {"a line", test.message}; }

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
  }
  return lines;
}

}  // namespace testlog::cli
