#include "testlog/cli/ci/job_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

using summary::Cause;
using summary::Result;
using summary::RunSummary;
using summary::TestOutcome;
using tracing::support::counted;

constexpr std::size_t kMaxLineBytes = 512;
constexpr std::size_t kMaxNames = 100;    // of the tests of a cause
constexpr std::size_t kMaxReports = 100;  // in all
constexpr std::size_t kMaxReportsOfCause = 5;
constexpr std::size_t kMaxReportLines = 40;
constexpr std::size_t kMaxWhyLines = 3;
constexpr std::size_t kMaxFlaky = 50;
constexpr std::size_t kMaxSlowest = 10;
constexpr std::int64_t kMillisecond = 1'000'000;

std::string html_text(std::string_view text) {
  std::string out;
  for (char const c : tracing::sanitized_in_line(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string code(std::string_view text) {
  return "<code>" + markdown_text(summary::cut(text, kMaxLineBytes)) + "</code>";
}

std::string seconds(std::int64_t ns) { return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9); }

std::string place_of(TestOutcome const& test, CiSettings const& settings) {
  std::string const file = path_in_repository(test.file, settings.root);
  std::string const known = file.empty() ? test.file.substr(test.file.rfind('/') + 1) : file;
  return known.empty() ? "" : fmt::format("{}:{}", known, test.line);
}

std::size_t count_of(RunSummary const& run, Result result) {
  return static_cast<std::size_t>(std::count_if(run.tests.begin(), run.tests.end(),
                                                [result](TestOutcome const& test) { return test.result == result; }));
}

std::string counts_table(RunSummary const& run) {
  constexpr Result kResults[] = {Result::passed, Result::failed,     Result::crashed,
                                 Result::hung,   Result::unfinished, Result::skipped};
  std::string head = "|", line = "|", row = "|";
  std::size_t left = run.test_count;
  for (Result const result : kResults) {
    if (result != Result::passed) left -= std::min(left, count_of(run, result));
  }
  for (Result const result : kResults) {
    head += fmt::format(" {} |", summary::name(result));
    line += "---:|";
    row += fmt::format(" {} |", result == Result::passed ? left : count_of(run, result));
  }
  return fmt::format("### testlog: {}\n\n{} flaky |\n{}---:|\n{} {} |\n\n", summary::counts_of(run), head, line, row,
                     run.flaky_count);
}

std::string report_block(TestOutcome const& test, ReportOf const& report_of) {
  std::vector<std::string> const lines = report_of(test);
  if (lines.empty()) return {};
  std::string text = "<details><summary>" + code(summary::name_of(test)) + ": the end of its report</summary>\n\n<pre>";
  for (std::size_t i = lines.size() - std::min(lines.size(), kMaxReportLines); i < lines.size(); ++i)
    text += html_text(summary::cut(lines[i], kMaxLineBytes)) + "\n";
  return text + "</pre>\n\n</details>\n\n";
}

std::string test_line(TestOutcome const& test, CiSettings const& settings) {
  std::string line = fmt::format("- {} {}", code(summary::name_of(test)), summary::name(test.result));
  if (std::string const place = place_of(test, settings); !place.empty()) line += " at " + code(place);
  if (!test.span_path.empty()) line += ", in " + code(test.span_path);
  return line + "\n";
}

// One cause, with and without the reports of its tests.
struct Block {
  std::string names;    // who failed
  std::string reports;  // what is left out first
  std::string end;
  bool is_full = false;

  std::size_t bytes() const noexcept { return names.size() + end.size() + (is_full ? reports.size() : 0); }
};

Block block_of(RunSummary const& run, Cause const& cause, CiSettings const& settings) {
  TestOutcome const& first = run.tests[cause.tests.front()];
  Block block;
  block.names =
      fmt::format("<details><summary>{}: {}</summary>\n\n", counted(cause.tests.size(), "test"), code(cause.text));
  if (!first.message.empty()) block.names += code(summary::on_one_line(first.message, kMaxLineBytes)) + "\n\n";
  for (std::size_t i = 0; i < std::min(kMaxWhyLines, cause.why.size()); ++i)
    block.names += fmt::format("why: {}\n\n", code(cause.why[i]));
  for (std::size_t i = 0; i < std::min(kMaxNames, cause.tests.size()); ++i)
    block.names += test_line(run.tests[cause.tests[i]], settings);
  if (cause.tests.size() > kMaxNames)
    block.names += fmt::format("- and {}\n", counted(cause.tests.size() - kMaxNames, "more test"));
  block.names += "\n";
  if (std::string const command = summary::rerun_command(first); !command.empty())
    block.end = fmt::format("Run it again: {}\n\n", code(command));
  block.end += "</details>\n\n";
  return block;
}

// Sets Block::is_full for the shortest blocks as long as they fit.
void fill(std::vector<Block>& blocks, std::size_t bytes_left) {
  std::vector<std::size_t> by_size(blocks.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&blocks](std::size_t a, std::size_t b) {
    return blocks[a].reports.size() < blocks[b].reports.size();
  });
  for (std::size_t const i : by_size) {
    if (blocks[i].reports.size() > bytes_left) return;
    bytes_left -= blocks[i].reports.size();
    blocks[i].is_full = true;
  }
}

std::string causes_text(RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                        std::size_t max_bytes) {
  constexpr std::size_t kRoomForRest = 100;
  if (max_bytes < kRoomForRest) return {};
  std::vector<Block> blocks;
  std::size_t bytes = kRoomForRest, reports = 0;
  for (Cause const& cause : run.causes) {
    Block block = block_of(run, cause, settings);
    if (bytes + block.bytes() > max_bytes) break;
    bytes += block.bytes();
    blocks.push_back(std::move(block));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<std::size_t> const& tests = run.causes[i].tests;
    for (std::size_t j = 0; j < std::min(kMaxReportsOfCause, tests.size()) && reports < kMaxReports; ++j, ++reports)
      blocks[i].reports += report_block(run.tests[tests[j]], report_of);
  }
  fill(blocks, max_bytes - bytes);
  std::string text;
  for (Block const& block : blocks) text += block.names + (block.is_full ? block.reports : "") + block.end;
  std::size_t tests = 0;
  for (std::size_t i = blocks.size(); i < run.causes.size(); ++i) tests += run.causes[i].tests.size();
  if (blocks.size() < run.causes.size())
    text += fmt::format("and {} of {}\n\n", counted(run.causes.size() - blocks.size(), "more cause"),
                        counted(tests, "test"));
  return text;
}

std::string flaky_list(RunSummary const& run) {
  std::string text;
  std::size_t count = 0;
  for (TestOutcome const& test : run.tests)
    if (test.is_flaky && ++count <= kMaxFlaky)
      text += fmt::format("- {}: {}\n", code(summary::name_of(test)), summary::flaky_text(test));
  if (count > kMaxFlaky) text += fmt::format("- and {}\n", counted(count - kMaxFlaky, "more test"));
  return count == 0 ? "" : fmt::format("#### Flaky\n\n{}\n", text);
}

std::string slowest_list(RunSummary const& run) {
  std::vector<TestOutcome const*> tests;
  for (TestOutcome const& test : run.tests)
    if (test.duration_ns >= kMillisecond) tests.push_back(&test);
  std::size_t const count = std::min(kMaxSlowest, tests.size());
  std::partial_sort(tests.begin(), tests.begin() + static_cast<std::ptrdiff_t>(count), tests.end(),
                    [](auto const* a, auto const* b) { return a->duration_ns > b->duration_ns; });
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += fmt::format("| {} | {} |\n", code(summary::name_of(*tests[i])), seconds(tests[i]->duration_ns));
  if (count == 0) return {};
  return "<details><summary>The slowest tests</summary>\n\n| test | time |\n|---|---:|\n" + text + "\n</details>\n\n";
}

std::string next_steps(RunSummary const& run, CiSettings const& settings) {
  std::string text;
  if (!settings.artifact.empty()) {
    std::string const name = code(settings.artifact);
    text += "The artifact " + name + " has the reports and recordings.\n";
  }
  if (run.unread > 0) text += counted(run.unread, "more recording") + " were not read.\n";
  for (std::string const& command : run.commands) text += "\nRead on: " + code(command) + "\n";
  return text + "\n";
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (char const c : tracing::sanitized_in_line(text)) {
    auto const byte = static_cast<unsigned char>(c);
    bool const is_plain = byte >= 0x80 || c == ' ' || c == ',' || c == '/' || (c >= '0' && c <= '9') ||
                          (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    is_plain ? out += c : out += fmt::format("&#{};", static_cast<unsigned>(byte));
  }
  return out;
}

std::string job_summary(RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                        std::size_t max_bytes) {
  if (run.is_green()) return {};
  std::string text = counts_table(run);
  if (text.size() > max_bytes) return {};
  std::string rest = flaky_list(run) + slowest_list(run) + next_steps(run, settings);
  if (text.size() + rest.size() > max_bytes) rest.clear();
  return text + causes_text(run, settings, report_of, max_bytes - text.size() - rest.size()) + rest;
}

}  // namespace testlog::cli
