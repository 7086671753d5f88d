#include "testlog/cli/ci/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "testlog/cli/ci/report_piece.h"
#include "testlog/cli/output_file.h"
#include "testlog/summary/xml_text.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/short_text.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using summary::is_failure;
using summary::Result;
using summary::TestAttempt;
using summary::TestOutcome;
using summary::xml_attribute;
using summary::xml_text;

constexpr std::size_t kMaxReportBytes = std::size_t{64} << 10;
constexpr std::size_t kMinReportBytes = 1024;  // if they do not fit all, reports at the end of the file are left out
constexpr std::string_view kNoReport = "The report is left out: the file would be too large.\n";

// A part of the file.
struct Piece {
  std::string text{};
  std::size_t objects = 0;

  // Appends the beginning of an element; `attributes` are of xml_attribute().
  void open(std::string_view indent, std::string_view name, std::string_view attributes, std::string_view end = ">") {
    text.append(indent).append("<").append(name).append(attributes).append(end);
    // An attribute has two quotes, which are escaped elsewhere. The element follows blanks.
    objects += 2 + static_cast<std::size_t>(std::count(attributes.begin(), attributes.end(), '"')) / 2;
  }
  void add_element(std::string_view indent, std::string_view name, std::string_view attributes,
                   std::string_view content) {
    open(indent, name, attributes);
    text.append(content).append("</").append(name).append(">\n");
    objects += 1;
  }
  void close(std::string_view indent, std::string_view name) {
    text.append(indent).append("</").append(name).append(">\n");
    objects += 1;  // the blanks before it
  }
};

std::string seconds(std::int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1e9); }

// Returns the kind of a failure for programs. `how` is TestOutcome::how.
std::string_view kind_of(Result result, std::string_view how) {
  if (result == Result::crashed) return "crash";
  if (result == Result::failed) return "assertion";
  if (how == "SIGTERM") return "timeout";  // ctest ended the test
  return result == Result::hung ? "hang" : "unfinished";
}

bool has_ended(Result result, std::string_view how) { return kind_of(result, how) != "unfinished"; }

// What a report is about: a failure, or an attempt that failed before the last one.
struct Reported {
  TestOutcome const* test;
  TestAttempt const* attempt;  // null: the failure of the test
  std::string element, attributes;
};

// `message` is what failed, `how` is TestOutcome::how.
std::string attributes_of(Result result, std::string_view how, std::string const& message) {
  bool const has_assertion = result == Result::failed && !message.empty();
  return xml_attribute("message", summary::on_one_line(has_assertion ? message : std::string(how), 1024)) +
         xml_attribute("type", kind_of(result, how));
}

// Returns the failure of a test, if it failed, and the attempts that failed before.
std::vector<Reported> reported_of(TestOutcome const& test) {
  std::vector<Reported> all;
  if (is_failure(test.result))
    all.push_back({&test, nullptr, has_ended(test.result, test.how) ? "failure" : "error",
                   attributes_of(test.result, test.how, test.message)});
  for (TestAttempt const& attempt : test.attempts) {
    bool const is_own = !test.is_flaky && attempt.number == test.attempts.back().number;
    if (!is_failure(attempt.result) || is_own) continue;
    std::string const how = attempt.message.empty() ? std::string(name(attempt.result)) : attempt.message;
    std::string const element =
        std::string(test.is_flaky ? "flaky" : "rerun") + (has_ended(attempt.result, how) ? "Failure" : "Error");
    all.push_back({&test, &attempt, element, attributes_of(attempt.result, how, attempt.message)});
  }
  return all;
}

void append_report(Piece& piece, Reported const& reported, std::string_view text) {
  constexpr std::string_view kIndent = "      ";
  if (reported.attempt == nullptr) return piece.add_element(kIndent, reported.element, reported.attributes, text);
  piece.open(kIndent, reported.element, reported.attributes, ">\n");  // as Maven Surefire writes it
  piece.add_element("        ", "stackTrace", "", text);
  piece.close(kIndent, reported.element);
}

void append_properties(Piece& piece, TestOutcome const& test) {
  constexpr std::string_view kIndent = "      ";
  std::pair<char const*, std::string const&> const properties[] = {{"trace_span_path", test.span_path},
                                                                   {"trace_recording", test.recording}};
  if (std::all_of(std::begin(properties), std::end(properties), [](auto const& one) { return one.second.empty(); }))
    return;
  piece.open(kIndent, "properties", "", ">\n");
  for (auto const& [name, value] : properties)
    if (!value.empty())
      piece.open("        ", "property", xml_attribute("name", name) + xml_attribute("value", value, 4096), "/>\n");
  piece.close(kIndent, "properties");
}

struct Case {
  TestOutcome const* test;
  std::string attributes;
  std::vector<Reported> reported;
  std::vector<std::string> reports{};  // by `reported`
  bool is_left_out = false;
};

struct Suite {
  std::string attributes{};
  std::vector<Case> cases{};
  std::size_t left_out = 0;
};

class Junit {
 public:
  Junit(std::vector<TestOutcome> const& tests, CiSettings const& settings, ReportLines const& report,
        JunitLimits const& limits)
      : settings_(settings), report_(report), limits_(limits) {
    for (TestOutcome const& test : tests) by_program_[test.program].push_back(&test);
    for (auto const& [program, of_program] : by_program_) {
      Suite& suite = suites_.emplace_back(Suite{attributes_of_suite(program, of_program)});
      for (TestOutcome const* const test : of_program) {
        all_.push_back(test);
        suite.cases.push_back({test, attributes_of_case(*test), reported_of(*test)});
        Case& added = suite.cases.back();
        added.reports.assign(added.reported.size(), std::string(kNoReport));
      }
    }
  }

  std::string text() {
    leave_out_cases();
    add_reports();
    return whole().text;
  }

 private:
  std::string attributes_of_suite(std::string const& name, std::vector<TestOutcome const*> const& tests) const {
    std::size_t failures = 0, errors = 0, skipped = 0;
    std::int64_t ns = 0;
    for (TestOutcome const* const test : tests) {
      bool const is_error = is_failure(test->result) && !has_ended(test->result, test->how);
      errors += is_error ? 1 : 0;
      failures += is_failure(test->result) && !is_error ? 1 : 0;
      skipped += test->result == Result::skipped ? 1 : 0;
      ns += test->duration_ns;
    }
    return xml_attribute("name", name) + xml_attribute("tests", std::to_string(tests.size())) +
           xml_attribute("failures", std::to_string(failures)) + xml_attribute("errors", std::to_string(errors)) +
           xml_attribute("skipped", std::to_string(skipped)) + xml_attribute("time", seconds(ns));
  }

  // A test that ran twice, or that two programs of one name have, gets two names, since services join cases by name.
  std::string attributes_of_case(TestOutcome const& test) {
    std::size_t const dot = test.name.find('.');
    std::string const suite = dot == test.name.npos ? "" : "." + test.name.substr(0, dot);
    std::string name = dot == test.name.npos ? summary::name_of(test) : test.name.substr(dot + 1);
    name = summary::cut(name, 1000);
    int const count = ++count_of_[test.program + "." + test.name];
    if (count > 1) name += fmt::format(" ({})", count);
    std::string text = xml_attribute("classname", test.program + suite) + xml_attribute("name", name);
    if (!test.file.empty()) {
      std::string const path = path_in_repository(test.file, settings_.root);
      text += xml_attribute("file", path.empty() ? test.file : path) + xml_attribute("line", std::to_string(test.line));
    }
    return text + xml_attribute("time", seconds(test.duration_ns));
  }

  Piece piece_of(Case const& one) const {
    constexpr std::string_view kIndent = "    ";
    TestOutcome const& test = *one.test;
    Piece piece;
    if (test.result == Result::passed && one.reported.empty())
      return piece.open(kIndent, "testcase", one.attributes, "/>\n"), piece;
    piece.open(kIndent, "testcase", one.attributes, ">\n");
    if (!one.reported.empty()) append_properties(piece, test);
    if (test.result == Result::skipped)
      piece.open("      ", "skipped", xml_attribute("message", summary::on_one_line(test.message, 1024)), "/>\n");
    for (std::size_t i = 0; i < one.reported.size(); ++i) append_report(piece, one.reported[i], one.reports[i]);
    if (is_failure(test.result)) append_attachment(piece, test);
    return piece.close(kIndent, "testcase"), piece;
  }

  // GitLab shows a link to an attachment, whose path is relative to the folder of the project.
  void append_attachment(Piece& piece, TestOutcome const& test) const {
    std::string const path = path_in_repository(test.recording, settings_.root);
    if (settings_.service == CiService::gitlab && !path.empty())
      piece.add_element("      ", "system-out", "", "[[ATTACHMENT|" + xml_text(path) + "]]");
  }

  Piece whole() const {
    Piece piece{"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"};
    piece.open("", "testsuites", attributes_of_suite("testlog", all_), ">\n");
    for (Suite const& suite : suites_) {
      piece.open("  ", "testsuite", suite.attributes, ">\n");
      for (Case const& one : suite.cases) {
        if (one.is_left_out) continue;
        Piece const of_case = piece_of(one);
        piece.text += of_case.text;
        piece.objects += of_case.objects;
      }
      if (suite.left_out > 0) piece.add_element("    ", "system-out", "", note_on(suite.left_out));
      piece.close("  ", "testsuite");
    }
    piece.close("", "testsuites");
    return piece;
  }

  static std::string note_on(std::size_t left_out) {
    return fmt::format("{} left out: the file would be too large.", tracing::support::counted(left_out, "test case"));
  }

  // Leaves out cases from the end of the file, of tests that passed first, until the rest fits without reports.
  void leave_out_cases() {
    constexpr std::size_t kMaxNoteBytes = 160, kNoteObjects = 3;
    Piece const all = whole();
    std::size_t bytes = all.text.size(), objects = all.objects;
    auto const fits = [&] { return bytes <= limits_.max_bytes && objects <= limits_.max_objects; };
    if (!fits()) bytes += kMaxNoteBytes * suites_.size(), objects += kNoteObjects * suites_.size();
    for (bool const has_text : {false, true}) {
      for (auto suite = suites_.rbegin(); suite != suites_.rend(); ++suite) {
        for (auto one = suite->cases.rbegin(); one != suite->cases.rend() && !fits(); ++one) {
          if ((is_failure(one->test->result) || one->test->is_flaky) != has_text) continue;
          Piece const piece = piece_of(*one);
          bytes -= std::min(bytes, piece.text.size());
          objects -= std::min(objects, piece.objects);
          one->is_left_out = true;
          ++suite->left_out;
        }
      }
    }
    room_ = limits_.max_bytes - std::min(limits_.max_bytes, bytes);
  }

  // Returns the report or, without one, the assertion.
  std::string report_of(Reported const& reported, std::size_t max_bytes) const {
    TestAttempt const* const attempt = reported.attempt;
    TestOutcome of_attempt;
    if (attempt != nullptr) of_attempt = {.name = reported.test->name, .recording = attempt->recording};
    std::string_view rest = attempt == nullptr ? reported.test->message : attempt->message;
    ReportPiece piece(max_bytes);
    bool is_empty = true;
    report_(attempt == nullptr ? *reported.test : of_attempt,
            [&](std::string_view line) { piece.add(line), is_empty = false; });
    while (is_empty && !rest.empty()) {
      std::string_view const line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      piece.add(line);
    }
    return piece.text();
  }

  // Calls f(case, index) for each report, in the order of the file, while it returns true.
  template <class F>
  bool for_each_report(F f) {
    for (Suite& suite : suites_)
      for (Case& one : suite.cases)
        for (std::size_t i = 0; !one.is_left_out && i < one.reported.size(); ++i)
          if (!f(one, i)) return false;
    return true;
  }

  // Adds the reports whole or, if they do not fit, so that each has an equal share of the room that is left.
  void add_reports() {
    std::size_t count = 0, used = 0;
    for_each_report([&count](Case&, std::size_t) { return ++count > 0; });
    std::size_t const room = room_ + count * kNoReport.size();
    bool const fits = for_each_report([&](Case& one, std::size_t i) {
      one.reports[i] = report_of(one.reported[i], kMaxReportBytes);
      used += one.reports[i].size();
      return used <= room;
    });
    if (fits) return;
    used = 0;
    for_each_report([&](Case& one, std::size_t i) {
      std::size_t const notes = --count * kNoReport.size();  // room for the reports after this one
      std::size_t const left = room - used - notes;
      std::size_t const share =
          std::min(left, std::clamp((room - used) / (count + 1), kMinReportBytes, kMaxReportBytes));
      one.reports[i] = share >= ReportPiece::kMinBytes ? report_of(one.reported[i], share) : std::string(kNoReport);
      used += one.reports[i].size();
      return true;
    });
  }

  CiSettings const& settings_;
  ReportLines const& report_;
  JunitLimits const& limits_;
  std::map<std::string, std::vector<TestOutcome const*>> by_program_;
  std::vector<TestOutcome const*> all_;
  std::vector<Suite> suites_;
  std::map<std::string, int> count_of_;
  std::size_t room_ = 0;  // bytes for reports, besides those of kNoReport
};

}  // namespace

std::string junit_of(std::vector<TestOutcome> const& tests, CiSettings const& settings, ReportLines const& report,
                     JunitLimits const& limits) {
  return Junit(tests, settings, report, limits).text();
}

void write_junit(summary::RunSummary const& run, CiSettings const& settings, ReportLines const& report,
                 std::string const& path) {
  std::error_code error;
  std::string target = path;
  if (path.ends_with('/') || fs::is_directory(path, error)) {
    fs::create_directories(path, error);
    std::string name = fs::absolute(run.folder, error).lexically_normal().string();
    std::replace(name.begin(), name.end(), '/', '-');
    target = (fs::path(path) /
              ("TEST-testlog" + name.substr(name.size() - std::min<std::size_t>(name.size(), 200)) + ".xml"))
                 .string();
  }
  OutputFile file(target);
  file.write(junit_of(run.tests, settings, report));
  error = file.finish();
  if (error) throw std::runtime_error("cannot write " + tracing::sanitized_in_line(target) + ": " + error.message());
}

}  // namespace testlog::cli
