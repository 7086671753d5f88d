#include "testlog/cli/ci/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/output_file.h"
#include "testlog/summary/xml_text.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::cli {
namespace {

namespace fs = std::filesystem;
using summary::Result;
using summary::RunSummary;
using summary::TestAttempt;
using summary::TestOutcome;
using summary::xml_attribute;
using summary::xml_text;

constexpr std::size_t kMaxMessageBytes = 1024;
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 10;
constexpr std::size_t kRoomForSuite = 1024;  // bytes around the cases of a suite
constexpr std::size_t kObjectsOfSuite = 16;

// A piece of the file, and how many elements, attributes and texts it has.
struct Piece {
  std::string text{};
  std::size_t objects = 0;
};

std::string seconds(std::int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1e9); }

std::string_view type_of(Result result, std::string_view how) {
  if (result == Result::crashed) return "crash";
  if (result == Result::unfinished) return "unfinished";
  if (result == Result::hung) return how == "SIGTERM" ? "timeout" : "hang";
  return "assertion";
}

std::string first_text(std::string const& message, std::string const& otherwise) {
  return summary::on_one_line(message.empty() ? otherwise : message, kMaxMessageBytes);
}

// Appends an element with a text.
void append_element(Piece& piece, std::string_view name, std::string const& attributes, std::string_view text) {
  piece.text +=
      fmt::format("      <{}{}>{}</{}>\n", name, attributes, xml_text(summary::cut(text, kMaxTextBytes)), name);
  piece.objects += 2 + static_cast<std::size_t>(std::count(attributes.begin(), attributes.end(), '='));
}

void append_failure(Piece& piece, TestOutcome const& test, std::string const& report) {
  std::string const text = report.empty() ? test.message : report;
  append_element(piece, test.result == Result::unfinished ? "error" : "failure",
                 xml_attribute("message", first_text(test.message, test.how)) +
                     xml_attribute("type", type_of(test.result, test.how)),
                 text);
}

// Appends the attempts that failed, but for the last attempt of a test that is not flaky, which is its failure.
void append_attempts(Piece& piece, TestOutcome const& test) {
  for (TestAttempt const& attempt : test.attempts) {
    bool const is_own = !test.is_flaky && &attempt == &test.attempts.back();
    if (!summary::is_failure(attempt.result) || is_own) continue;
    std::string const name(summary::name(attempt.result));
    append_element(
        piece, test.is_flaky ? "flakyFailure" : "rerunFailure",
        xml_attribute("message", fmt::format("attempt {}: {}", attempt.number, first_text(attempt.message, name))) +
            xml_attribute("type", type_of(attempt.result, attempt.message)),
        attempt.message);
  }
}

void append_properties(Piece& piece, TestOutcome const& test) {
  std::string properties;
  for (auto const& [name, value] : {std::pair<char const*, std::string const&>("trace_span_path", test.span_path),
                                    std::pair<char const*, std::string const&>("trace_recording", test.recording)}) {
    if (value.empty()) continue;
    properties += fmt::format("        <property name=\"{}\"{}/>\n", name, xml_attribute("value", value, 4096));
    piece.objects += 3;
  }
  if (properties.empty()) return;
  piece.text += "      <properties>\n" + properties + "      </properties>\n";
  ++piece.objects;
}

// GitLab shows a link to an attachment, whose path is relative to the folder of the project.
void append_attachment(Piece& piece, TestOutcome const& test, CiSettings const& settings) {
  std::string const path = path_in_repository(test.recording, settings.root);
  if (settings.service == CiService::gitlab && !path.empty())
    append_element(piece, "system-out", "", "[[ATTACHMENT|" + path + "]]");
}

std::string report_text(TestOutcome const& test, ReportOf const& report_of) {
  std::string text;
  for (std::string const& line : report_of(test)) text += line + "\n";
  return text;
}

// Collects the cases of the programs within the limits.
class Cases {
 public:
  Cases(CiSettings const& settings, JunitLimits const& limits)
      : settings_(settings), bytes_left_(limits.max_bytes), objects_left_(limits.max_objects) {
    (void)take({std::string(kRoomForSuite, ' '), kObjectsOfSuite});
  }

  // Adds a case. Leaves out the report, or the case, if there is no room.
  void add(TestOutcome const& test, ReportOf const& report_of) {
    count(all_, test);
    auto found = suites_.find(test.program);
    if (found == suites_.end() && take({std::string(kRoomForSuite, ' '), kObjectsOfSuite}))
      found = suites_.try_emplace(test.program).first;
    if (found == suites_.end()) return void(++left_out_);
    count(found->second, test);
    std::string const name = unique_name(test);
    bool const has_report = summary::is_failure(test.result) && bytes_left_ > 2 * kMaxTextBytes;
    std::string const report = has_report ? report_text(test, report_of) : "";
    Piece piece = case_of(test, name, report);
    bool fits = take(piece);
    if (!fits && !report.empty()) fits = take(piece = case_of(test, name, ""));
    if (fits) found->second.cases += piece.text;
    left_out_ += fits ? 0 : 1;
  }

  std::string text() const {
    std::string suites;
    for (auto const& [program, suite] : suites_)
      suites += "  <testsuite" + counts_of(program, suite) + ">\n" + suite.cases + "  </testsuite>\n";
    std::string const left_out =
        left_out_ == 0 ? ""
                       : fmt::format("  <!-- {} test cases are left out: the file would be too large -->\n", left_out_);
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts_of("testlog", all_) + ">\n" + left_out +
           suites + "</testsuites>\n";
  }

 private:
  struct Suite {
    std::string cases{};
    std::size_t tests = 0, failed = 0, errors = 0, skipped = 0;
    std::int64_t ns = 0;
  };

  static void count(Suite& suite, TestOutcome const& test) {
    ++suite.tests;
    suite.ns += test.duration_ns;
    suite.failed += summary::is_failure(test.result) && test.result != Result::unfinished ? 1 : 0;
    suite.errors += test.result == Result::unfinished ? 1 : 0;
    suite.skipped += test.result == Result::skipped ? 1 : 0;
  }

  static std::string counts_of(std::string const& name, Suite const& suite) {
    return xml_attribute("name", name) +
           fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"", suite.tests,
                       suite.failed, suite.errors, suite.skipped, seconds(suite.ns));
  }

  // A test that ran twice in a process has two cases, which need two names.
  std::string unique_name(TestOutcome const& test) {
    std::size_t const dot = test.name.rfind('.');
    std::string const name = dot == test.name.npos ? summary::name_of(test) : test.name.substr(dot + 1);
    int const count = ++names_[test.program + "." + test.name];
    return count == 1 ? name : fmt::format("{} ({})", name, count);
  }

  Piece case_of(TestOutcome const& test, std::string const& name, std::string const& report) const {
    std::size_t const dot = test.name.rfind('.');
    std::string const suite = dot == test.name.npos ? "" : "." + test.name.substr(0, dot);
    Piece piece{"    <testcase" + xml_attribute("classname", test.program + suite) + xml_attribute("name", name), 4};
    std::string const file = path_in_repository(test.file, settings_.root);
    std::string const& known = file.empty() ? test.file : file;
    if (!known.empty()) {
      piece.text += xml_attribute("file", known) + fmt::format(" line=\"{}\"", test.line);
      piece.objects += 2;
    }
    piece.text += fmt::format(" time=\"{}\"", seconds(test.duration_ns));
    if (test.result == Result::passed && !test.is_flaky) return piece.text += "/>\n", piece;
    piece.text += ">\n";
    append_properties(piece, test);
    if (test.result == Result::skipped) append_element(piece, "skipped", xml_attribute("message", test.message), "");
    if (summary::is_failure(test.result)) append_failure(piece, test, report);
    append_attempts(piece, test);
    if (summary::is_failure(test.result)) append_attachment(piece, test, settings_);
    return piece.text += "    </testcase>\n", piece;
  }

  // Returns false if there is no room for the piece.
  bool take(Piece const& piece) {
    if (piece.text.size() > bytes_left_ || piece.objects > objects_left_) return false;
    bytes_left_ -= piece.text.size();
    objects_left_ -= piece.objects;
    return true;
  }

  CiSettings const& settings_;
  std::size_t bytes_left_, objects_left_, left_out_ = 0;
  Suite all_;
  std::map<std::string, Suite> suites_;
  std::map<std::string, int> names_;
};

}  // namespace

std::string junit_of(RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
                     JunitLimits const& limits) {
  auto const has_text = [](TestOutcome const& test) { return test.result != Result::passed || test.is_flaky; };
  Cases cases(settings, limits);
  for (bool const wanted : {true, false})
    for (TestOutcome const& test : run.tests)
      if (has_text(test) == wanted) cases.add(test, report_of);
  return cases.text();
}

void write_junit(RunSummary const& run, CiSettings const& settings, ReportOf const& report_of,
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
  file.write(junit_of(run, settings, report_of));
  error = file.finish();
  if (error) throw std::runtime_error("cannot write " + tracing::sanitized_in_line(target) + ": " + error.message());
}

}  // namespace testlog::cli
