#include "testlog/listener.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "testlog/capture/unwound_path.h"
#include "testlog/report/failed_tests.h"
#include "testlog/report/failure_report.h"
#include "testlog/report/test_properties.h"
#include "testlog/run/crash.h"
#include "testlog/run/hang.h"
#include "testlog/session.h"
#include "testlog/settings.h"
#include "tracing_core/bridge/spdlog.h"
#include "tracing_core/environment/unmatched.h"
#include "tracing_core/format/span_path.h"
#include "tracing_core/support/running_test.h"
#include "tracing_core/support/short_text.h"
#include "tracing_core/support/thread_info.h"

namespace testlog { inline namespace v1 { namespace internal {
namespace {

using testing::TestInfo;
using testing::TestPartResult;
using testing::TestSuite;
using testing::UnitTest;

// The place of a failure, for the line after it and for reports.
struct Place {
  std::string_view preposition;  // "in" or "thrown in"
  std::string path;
};

std::string current_path() {
  tracing::InlineTextBuffer<256> path;
  tracing::append_current_path(path);
  return std::string(path.view());
}

Place place_of(TestPartResult const& failure) {
  // Exceptions are the only failures that GoogleTest reports without a place in the source.
  bool const is_exception = failure.file_name() == nullptr;
  if (is_exception && !unwound_path().empty()) return {"thrown in", std::string(unwound_path())};
  return {"in", current_path()};
}

std::string headline_of(TestInfo const& test) {
  std::string text = std::string(test.test_suite_name()) + "." + test.name();
  if (test.value_param() != nullptr) text.append(", where GetParam() = ").append(test.value_param());
  if (test.type_param() != nullptr) text.append(", where TypeParam = ").append(test.type_param());
  return text;
}

using tracing::environment::Unmatched;

// Reports the directives of TRACE_FILTER or of the test's own filter, and of TRACE_CAPTURE, that matched nothing.
void report_unmatched(Session& session, Unmatched which) {
  if (session.is_mute()) return;
  auto const report = [&](char const* origin, tracing::EnvFilter const& filter) {
    tracing::environment::report_unmatched(session.output(), which, origin, filter);
  };
  tracing::EnvFilter const& shown = session.live().filter().current();
  if (session.environment().filter_is_set) {
    report("TRACE_FILTER", shown);
  } else if (session.live().has_filter_of_test()) {
    report("the test's filter", shown);
  }
  if (auto const* const captured = session.capture().filter()) report("TRACE_CAPTURE", *captured);
}

// Shows and reports records. Added before the checker: it sees the failures that the checker raises and, since
// GoogleTest calls listeners in reverse order at the end of a test, prints after it.
class Recorder final : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(Session& session)
      : session_(session), unreported_(session.capture().unreported()), report_(session.report_parts()) {}

  void OnTestProgramStart(UnitTest const&) override {
    runs_ = true;
    session_.recording_file().begin_run();
    install_crash_handlers(session_.report_parts());
    install_hang_handlers();
    report_exit_of_process();
    attach_loggers();
  }

  void OnTestIterationStart(UnitTest const& program, int iteration) override {
    session_.fail_on().begin_run();
    if (run_records_ != nullptr) run_records_->begin_repetition(program, iteration);
  }
  void OnTestIterationEnd(UnitTest const& program, int) override {
    has_failed_ |= program.Failed();
    if (run_records_ != nullptr) run_records_->end_run(program);
  }

  // This set-up began with the first record: static initialisers belong to it.
  void OnEnvironmentsSetUpStart(UnitTest const&) override {
    unreported_.begin(UnreportedRecords::of_environments, unreported_.first_of_tests());
  }
  void OnEnvironmentsSetUpEnd(UnitTest const&) override { unreported_.end(UnreportedRecords::of_environments, now()); }
  void OnTestSuiteStart(TestSuite const& suite) override {
    begin_phase(Phase::set_up_of_suite, suite.name());
    unreported_.begin(UnreportedRecords::of_suite, now());
  }

  void OnTestStart(TestInfo const& test) override {
    unreported_.end(UnreportedRecords::of_suite, now());
    test_ = &test;
    begin_phase(Phase::test, name_of(test).c_str());
    tracing::support::set_running_test(name_of(test).c_str());
    path_.clear();
    forget_unwound();
    session_.begin_test(name_of(test), settings_of(test.test_suite_name(), test.name(), test.type_param() != nullptr));
    if (run_records_ != nullptr) run_records_->begin_test(name_of(test), test);
    attach_loggers();  // loggers that were registered since
  }

  void OnTestPartResult(TestPartResult const& result) override {
    if (run_records_ != nullptr) run_records_->part_result(running_test(), result);
    if (!result.failed()) return;
    has_failed_ = true;
    session_.live().finish_lines();
    session_.death_tests().collect();  // saves records of this death test's child before another child takes its place
    Place const place = place_of(result);
    report_.note(result, place.path);
    failed_tests_.note(running_test(), result, place.path);
    if (!place.path.empty()) {
      if (!session_.is_mute()) print_place(place);
      if (path_.empty() && test_ == nullptr) testing::Test::RecordProperty("trace_span_path", place.path);
      if (path_.empty()) path_ = place.path;
    }
    bool const ends_here = GTEST_FLAG_GET(break_on_failure) || GTEST_FLAG_GET(throw_on_failure);
    if (test_ == nullptr) report_.print_unreported("a failure outside any test");
    if (test_ != nullptr && ends_here) {
      copy_death_tests();
      report_.print_unreported(headline_of(*test_));
    }
  }

  void OnTestEnd(TestInfo const& test) override {
    bool const failed = test.result()->Failed();
    Show const show = session_.environment().show;
    std::string report;
    session_.live().finish_lines();
    if (failed) {
      copy_death_tests();
      report = report_.print_unreported(headline_of(test));
      report_.print_why(name_of(test));
      if (!session_.recording_file().is_of_ctest())  // ctest sums up by itself
        failed_tests_.end_test(name_of(test), session_.attribution().running());
      report_unmatched(session_, Unmatched::all);
      if (!path_.empty()) record_property(test, "trace_span_path", path_);
    } else {
      bool const has_lines = show == Show::all ? report_.print_matching(name_of(test)) : session_.live().has_printed();
      if (!has_lines && show != Show::failed) explain_silence(name_of(test));
    }
    session_.death_tests().forget();
    report_.skip();
    bool const prints = show == Show::all || (show == Show::failed && failed);
    if (prints && !session_.is_mute()) session_.perf().print_test();
    if (run_records_ != nullptr) run_records_->end_test(name_of(test), test);
    if (failed) record_where_to_look(test, report);  // only in the report: the recording has the records themselves
    session_.end_test();
    test_ = nullptr;
    tracing::support::set_running_test(nullptr);
    begin_phase(Phase::after_test, name_of(test).c_str());
  }

  void OnTestSuiteEnd(TestSuite const& suite) override {
    if (run_records_ != nullptr) run_records_->properties(suite.name(), suite.ad_hoc_test_result());
  }

  void OnTestProgramEnd(UnitTest const& program) override {
    runs_ = false;
    begin_phase(Phase::after_tests, "");
    if (run_records_ != nullptr) run_records_->properties({}, program.ad_hoc_test_result());
    if (session_.environment().spdlog) tracing::bridge::detach_all();
    if (session_.environment().show == Show::all) {
      report_.print_matching({});
      report_.skip();
    }
    bool const ran_all = program.test_to_run_count() == program.total_test_count() - program.disabled_test_count();
    report_unmatched(session_, ran_all ? Unmatched::all : Unmatched::near);
    if (!session_.is_mute()) {
      if (session_.environment().filter_help) tracing::environment::print_filter_help(session_.output());
      session_.perf().report_if_none_was_measured(ran_all);
      session_.perf().print_run();
    }
    session_.perf().finish();
    session_.recording_file().end_run({.passed = !has_failed_ && program.Passed(),
                                       .tests = program.test_to_run_count(),
                                       .failed = program.failed_test_count()});
    if (has_failed_ && !session_.is_mute()) say_where_to_read_on(program);
    if (has_failed_ && session_.environment().ci == Ci::cdash) report_to_cdash();
  }

 private:
  std::string_view running_test() { return test_ == nullptr ? std::string_view() : name_of(*test_); }

  // Says why nothing was shown: spans alone have no lines, which surprises people who asked for them by a filter.
  void explain_silence(std::string const& test) {
    Environment const& environment = session_.environment();
    bool const has_filter = environment.filter_is_set || session_.live().has_filter_of_test();
    if (session_.is_mute() || !has_filter || environment.span_events != tracing::SpanEvents::none) return;
    if (session_.live().filter().max_level_hint() == tracing::LevelFilter::off) return;  // do not read in vain
    std::uint64_t const spans = report_.spans_without_events();
    if (spans == 0) return;
    session_.output().write_note("report", "testlog: " + test + ": " + tracing::support::counted(spans, "span") +
                                               ", no events; TRACE_SPAN_EVENTS=close shows " +
                                               (spans == 1 ? "it\n" : "them\n"));
  }

  void record_where_to_look(TestInfo const& test, std::string const& report) {
    constexpr std::size_t kMaxBytes = 4096;
    if (!report.empty()) record_property(test, "trace_report", beginning_for_xml(report, kMaxBytes));
    std::string const& recording = session_.recording_file().path();
    if (!recording.empty()) record_property(test, "trace_recording", beginning_for_xml(recording, kMaxBytes));
  }

  // Sums up several failures, unless ctest will do so. Otherwise prints the command that shows the recording, unless
  // the user chose the file by TRACE_RECORD. Also prints why the default file could not be made.
  void say_where_to_read_on(UnitTest const& program) {
    RecordingFile const& file = session_.recording_file();
    if (!file.problem().empty()) session_.output().write_note("report", file.problem());
    std::string const summary = file.is_of_ctest() ? "" : failed_tests_.text(program, file.path());
    if (!summary.empty())
      session_.output().write_note("summary", summary);
    else if (file.is_default() && !file.path().empty())
      session_.output().write_note("report", "testlog: the whole recording: testlog show " + file.path() + "\n");
  }

  void report_to_cdash() {
    std::error_code error;
    std::string const& path = session_.recording_file().path();
    std::string const text =
        failed_tests_.cdash_text(path.empty() ? path : std::filesystem::absolute(path, error).string());
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  void copy_death_tests() {
    if (session_.capture().recording() != nullptr) session_.death_tests().add_to(*session_.capture().recording());
  }

  void print_place(Place const& place) {
    Output& output = session_.output();
    tracing::support::ThreadInfo const& thread = tracing::support::this_thread_info();
    tracing::Track const track{thread.number, thread.name};
    output.write(output.note("failure", running_test(),
                             "    " + std::string(place.preposition) + " " + place.path + "\n", &track));
  }

  std::uint64_t now() const noexcept { return session_.capture().now(); }
  void attach_loggers() {
    using tracing::bridge::Console;
    Environment const& environment = session_.environment();
    bool const keep = session_.is_mute() || (environment.capture_off && environment.show != Show::live);
    if (environment.spdlog) tracing::bridge::attach_all(keep ? Console::keep : Console::set_aside);
  }

  // exit() during a test ends the process without any output of GoogleTest. Forked children may call it.
  void report_exit_of_process() {
    process_ = getpid();
    static Recorder* recorder = nullptr;
    if (std::exchange(recorder, this) != nullptr) return;
    std::atexit([] {
      if (recorder->runs_ && getpid() == recorder->process_) recorder->report_exit();
    });
  }

  void report_exit() {
    if (run_records_ != nullptr) run_records_->exit_of_process(running_test());
    std::string headline = test_ == nullptr ? "the process called exit() outside any test"
                                            : headline_of(*test_) + ": the process called exit()";
    if (std::string const path = current_path(); !path.empty()) headline.append(", in ").append(path);
    // With --gtest_throw_on_failure, exit() also runs if main() catches the exception and returns. The failure has been
    // reported by then.
    bool const was_thrown = GTEST_FLAG_GET(throw_on_failure) && has_failed_;
    copy_death_tests();
    report_.print_unreported(headline, test_ != nullptr && !was_thrown);
  }

  // Never destroyed: late records are labelled with the names of tests that have ended, even after GoogleTest has
  // destroyed this listener at the end of the program.
  static std::string const& name_of(TestInfo const& test) {
    static auto& names = *new std::map<TestInfo const*, std::string>;
    std::string& name = names[&test];
    if (name.empty()) name.append(test.test_suite_name()).append(".").append(test.name());
    return name;
  }

  Session& session_;
  UnreportedRecords& unreported_;
  FailureReport report_;
  FailedTests failed_tests_{session_.capture()};
  RunRecords* const run_records_ = session_.run_records();  // null if there are none
  bool has_failed_ = false;
  TestInfo const* test_ = nullptr;
  bool runs_ = false;   // inside RUN_ALL_TESTS()
  pid_t process_ = 0;   // the process that runs the tests
  std::string path_{};  // of the first failure
};

// Raises failures. Not part of Recorder, because a listener that gets failures must not raise them.
class Checker final : public testing::EmptyTestEventListener {
 public:
  explicit Checker(Session& session) : session_(session) {}

  void OnTestEnd(TestInfo const& test) override { session_.fail_on().raise_failures(test); }
  // Called before the result of the run is known.
  void OnEnvironmentsTearDownEnd(UnitTest const&) override { session_.fail_on().raise_late_failures(); }

 private:
  Session& session_;
};

}  // namespace

void install_listeners() {
  Session* const session = Session::get();
  if (session == nullptr || !session->take_listeners()) return;
  auto& listeners = UnitTest::GetInstance()->listeners();
  listeners.Append(new Recorder(*session));
  listeners.Append(new Checker(*session));
}

namespace {

// Before other initialisers, to capture what they record. glibc passes the arguments of main() to initialisers, too.
[[gnu::constructor(101)]] void start_session(int argc, char** argv) { Session::start(read_role(argc, argv)); }

// Runs with the ordinary initialisers: GoogleTest is usable then, since every TEST registers itself there.
[[maybe_unused]] bool const installed = (install_listeners(), true);

}  // namespace
}}}  // namespace testlog::v1::internal

int const testlog_keep_linked = 1;
