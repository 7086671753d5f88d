#include "testlog/cli/ci/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

using summary::Cause;
using summary::RunSummary;
using summary::TestOutcome;
using tracing::sanitized_in_line;
using tracing::support::counted;

constexpr std::size_t kMaxTitleBytes = 256;
constexpr std::size_t kMaxFactBytes = 1024;  // of a line of a message
constexpr std::size_t kMaxTeamcityTests = 1000;
constexpr std::size_t kMaxLogBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxReportLines = 40;
constexpr std::size_t kMaxReportLineBytes = 512;

// An error or a warning beside the source.
struct Annotation {
  bool is_error = true;
  std::string file{};
  int line = 0;
  std::string title{}, message{};
};

std::string github(Annotation const& one) {
  std::string properties;
  if (!one.file.empty())
    properties = fmt::format("file={},line={},", escaped(one.file, CiValue::github_property), one.line);
  return fmt::format("::{} {}title={}::{}\n", one.is_error ? "error" : "warning", properties,
                     escaped(one.title, CiValue::github_property, kMaxTitleBytes),
                     escaped(one.message, CiValue::github_message, kMaxMessageBytes));
}

// Azure shows no titles.
std::string azure(Annotation const& one) {
  std::string properties = one.is_error ? "type=error;" : "type=warning;";
  if (!one.file.empty())
    properties += fmt::format("sourcepath={};linenumber={};", escaped(one.file, CiValue::azure_property), one.line);
  return fmt::format("##vso[task.logissue {}]{}\n", properties,
                     escaped(one.title + "\n" + one.message, CiValue::azure_message, kMaxMessageBytes));
}

std::string text_of(CiService service, Annotation const& one) {
  return service == CiService::github ? github(one) : azure(one);
}

Annotation annotation_of(RunSummary const& run, Cause const& cause, std::string const& root) {
  TestOutcome const& first = run.tests[cause.tests.front()];
  return {.file = path_in_repository(first.file, root),
          .line = first.line,
          .title = title_of(run, cause),
          .message = message_of(run, cause)};
}

Annotation warning_of(TestOutcome const& test, std::string const& root) {
  return {.is_error = false,
          .file = path_in_repository(test.file, root),
          .line = test.line,
          .title = summary::name_of(test) + " is flaky: " + summary::flaky_text(test),
          .message = message_of(test)};
}

// Says at the end of the last annotation how many more there are.
void say_more(Annotation& last, std::size_t count, std::string_view noun) {
  if (count == 0) return;
  std::string const more = fmt::format("\nand {}", counted(count, noun));
  last.message = summary::cut(last.message, kMaxMessageBytes / 2) + more;
}

std::string errors_and_warnings(RunSummary const& run, CiSettings const& settings) {
  std::string lines;
  std::size_t const errors = std::min(kMaxAnnotations, run.causes.size());
  for (std::size_t i = 0; i < errors; ++i) {
    Annotation one = annotation_of(run, run.causes[i], settings.root);
    if (i + 1 == kMaxAnnotations) say_more(one, run.causes.size() - errors, "more cause");
    lines += text_of(settings.service, one);
  }
  std::size_t warnings = 0;
  for (TestOutcome const& test : run.tests) {
    if (!test.is_flaky || ++warnings > kMaxAnnotations) continue;
    Annotation one = warning_of(test, settings.root);
    if (warnings == kMaxAnnotations) say_more(one, run.flaky_count - kMaxAnnotations, "more flaky test");
    lines += text_of(settings.service, one);
  }
  return lines;
}

// Returns the messages about a process that ran the test.
std::string teamcity(TestOutcome const& test, bool has_failed) {
  std::string const name = escaped(test.program + ": " + summary::name_of(test), CiValue::teamcity, kMaxTitleBytes);
  std::string text = fmt::format("##teamcity[testStarted name='{}']\n", name);
  if (has_failed)
    text += fmt::format(
        "##teamcity[testFailed name='{}' message='{}' details='{}']\n", name,
        escaped(summary::on_one_line(test.message.empty() ? test.how : test.message, kMaxFactBytes), CiValue::teamcity),
        escaped(message_of(test), CiValue::teamcity));
  return text + fmt::format("##teamcity[testFinished name='{}' duration='{}']\n", name, test.duration_ns / 1'000'000);
}

std::string teamcity(RunSummary const& run) {
  std::string text;
  std::size_t count = 0;
  for (TestOutcome const& test : run.tests) {
    bool const has_failed = summary::is_failure(test.result);
    if ((!has_failed && !test.is_flaky) || ++count > kMaxTeamcityTests) continue;
    text += teamcity(test, true);
    if (test.is_flaky) text += teamcity(test, false);
  }
  if (count > kMaxTeamcityTests)
    text +=
        fmt::format("##teamcity[message text='testlog: {} failed']\n", counted(count - kMaxTeamcityTests, "more test"));
  return text;
}

std::string gitlab_section(RunSummary const& run, std::size_t cause, ReportOf const& report_of, std::time_t now) {
  std::string const name = fmt::format("testlog_{}_{}", now, cause + 1);
  std::string text = fmt::format("\x1b[0Ksection_start:{}:{}[collapsed=true]\r\x1b[0K{}\n", now, name,
                                 sanitized_in_line(summary::cut(title_of(run, run.causes[cause]), kMaxTitleBytes)));
  std::string const message = message_of(run, run.causes[cause]);
  for (std::size_t begin = 0, end = 0; end != message.npos && begin < message.size(); begin = end + 1) {
    end = message.find('\n', begin);
    text += sanitized_in_line(message.substr(begin, end - begin)) + "\n";
  }
  std::vector<std::string> const report = report_of(run.tests[run.causes[cause].tests.front()]);
  for (std::size_t i = report.size() - std::min(report.size(), kMaxReportLines); i < report.size(); ++i)
    text += "  " + sanitized_in_line(summary::cut(report[i], kMaxReportLineBytes)) + "\n";
  return text + fmt::format("\x1b[0Ksection_end:{}:{}\r\x1b[0K\n", now, name);
}

std::string gitlab(RunSummary const& run, ReportOf const& report_of, std::time_t now) {
  std::string text;
  for (std::size_t i = 0; i < run.causes.size(); ++i) {
    std::string const section = gitlab_section(run, i, report_of, now);
    if (text.size() + section.size() > kMaxLogBytes)
      return text + fmt::format("testlog: {} not in the log\n", counted(run.causes.size() - i, "more cause"));
    text += section;
  }
  return text;
}

}  // namespace

std::string title_of(RunSummary const& run, Cause const& cause) {
  TestOutcome const& first = run.tests[cause.tests.front()];
  if (cause.tests.size() == 1) return summary::name_of(first) + " " + std::string(summary::name(first.result));
  return counted(cause.tests.size(), "test") + " failed: " + summary::names_of(run, cause);
}

std::string message_of(TestOutcome const& test) {
  std::string text = summary::on_one_line(test.message.empty() ? test.how : test.message, kMaxFactBytes);
  if (!test.span_path.empty()) text += "\nin " + summary::on_one_line(test.span_path, kMaxFactBytes);
  if (!test.error.empty()) text += "\nerror: " + summary::on_one_line(test.error, kMaxFactBytes);
  return text;
}

std::string message_of(RunSummary const& run, Cause const& cause) {
  std::string text = message_of(run.tests[cause.tests.front()]);
  if (!cause.why.empty()) text += "\nwhy: " + summary::on_one_line(cause.why.front(), kMaxFactBytes);
  return text;
}

std::string annotations_of(RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                           std::time_t now) {
  switch (settings.service) {
    case CiService::github:
    case CiService::azure: return errors_and_warnings(run, settings);
    case CiService::teamcity: return teamcity(run);
    case CiService::gitlab: return gitlab(run, report_of, now);
    case CiService::buildkite:
    case CiService::none: return {};
  }
  return {};
}

}  // namespace testlog::cli
