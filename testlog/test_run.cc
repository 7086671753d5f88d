#include "testlog/test_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "testlog/capture/unwound_path.h"
#include "testlog/outputs/labels.h"
#include "testlog/report/failed_tests.h"
#include "testlog/report/failure_report.h"
#include "testlog/report/test_properties.h"
#include "testlog/run/crash.h"
#include "testlog/run/hang.h"
#include "testlog/session.h"
#include "tracing_core/bridge/spdlog.h"
#include "tracing_core/environment/unmatched.h"
#include "tracing_core/format/span_path.h"
#include "tracing_core/support/running_test.h"
#include "tracing_core/support/short_text.h"
#include "tracing_core/support/thread_info.h"

namespace testlog { inline namespace v1 { namespace test_run {
namespace {

using framework::Part;
using framework::Property;
using framework::Result;
using framework::Totals;

// The place of a failure, for the line after it and for reports.
struct Place {
  std::string_view preposition;  // "in" or "thrown in"
  std::string path;
  Owner owner;  // of the work that failed
};

Place place_of(Part const& failure, Attribution& attribution) {
  tracing::SpanRef const span = tracing::current_span_of_thread();
  attribution.observe_event();
  Owner const owner = attribution.owner_now(span);
  if (failure.is_exception && !unwound_path().empty()) return {"thrown in", std::string(unwound_path()), owner};
  tracing::InlineTextBuffer<256> path;
  tracing::append_span_path(path, span);
  return {"in", std::string(path.view()), owner};
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

// Shows and reports records.
class Recorder {
 public:
  explicit Recorder(Session& session)
      : session_(session), unreported_(session.capture().unreported()), report_(session.report_parts()) {}

  void begin_program() {
    runs_ = true;
    session_.recording_file().begin_run();
    install_crash_handlers(session_.report_parts());
    install_hang_handlers();
    report_exit_of_process();
    attach_loggers();
  }

  void begin_repetition(framework::Repetition const& repetition) {
    session_.fail_on().begin_run();
    if (run_records_ != nullptr) run_records_->begin_repetition(repetition);
  }
  void end_repetition(Totals const& totals) {
    has_failed_ |= !totals.passed;
    if (run_records_ != nullptr) run_records_->end_run(totals);
  }

  // This set-up began with the first record: static initialisers belong to it.
  void begin_set_up() { unreported_.begin(UnreportedRecords::of_environments, unreported_.first_of_tests()); }
  void end_set_up() { unreported_.end(UnreportedRecords::of_environments, now()); }
  void begin_suite(char const* name) {
    begin_phase(Phase::set_up_of_suite, name);
    path_.reset();
    unreported_.begin(UnreportedRecords::of_suite, now());
  }

  void begin_test(framework::Test const& test, Settings const& settings) {
    unreported_.end(UnreportedRecords::of_suite, now());
    test_ = &kept(test.name);
    headline_ = test.headline;
    place_ = {test.file == nullptr ? "" : test.file, test.line};
    begin_phase(Phase::test, test_->c_str());
    tracing::support::set_running_test(test_->c_str());
    path_.reset();
    forget_unwound();
    session_.begin_test(*test_, settings);
    if (run_records_ != nullptr) run_records_->begin_test(test);
    attach_loggers();  // loggers that were registered since
  }

  void part(Part const& part) {
    Place const place = part.is_failure() ? place_of(part, session_.attribution()) : Place{};
    if (run_records_ != nullptr) {
      bool const is_late = place.owner.late;
      run_records_->part(running_test(), part, is_late ? name_of_late_test(session_.attribution(), place.owner) : "");
    }
    if (!part.is_failure()) return;
    has_failed_ = true;
    session_.live().finish_lines();
    session_.death_tests().collect();  // saves records of this death test's child before another child takes its place
    report_.note(part, place.path, place.owner);
    failed_tests_.note(running_test(), part, place.path);
    if (!session_.is_mute()) print_place(place);
    if (!path_) {
      path_ = place.path;
      if (test_ == nullptr && !place.path.empty()) framework::current().record_property("trace_span_path", place.path);
    }
    has_ended_test_ |= part.ends_test;
    if (test_ == nullptr) report_.print_unreported("a failure outside any test");
    if (test_ != nullptr && part.ends_test) {
      copy_death_tests();
      report_.print_unreported(headline_);
    }
  }

  void fatal_signal(std::string_view name) noexcept { report_fatal_signal(name); }
  void check_test(bool was_skipped) {
    session_.fail_on().raise_failures(place_.first.c_str(), place_.second, was_skipped);
  }

  void end_test(Result result) {
    std::string const& name = *test_;
    Show const show = session_.environment().show;
    std::string report;
    session_.live().finish_lines();
    if (result.failed()) {
      copy_death_tests();
      report = report_.print_unreported(headline_);
      report_.print_why(name);
      if (!session_.recording_file().is_of_ctest())  // ctest sums up by itself
        failed_tests_.end_test(name, session_.attribution().running());
      report_unmatched(session_, Unmatched::all);
      if (path_ && !path_->empty()) add_property(result, "trace_span_path", *path_);
    } else {
      bool const has_lines = show == Show::all ? report_.print_matching(name) : session_.live().has_printed();
      if (!has_lines && show != Show::failed) explain_silence(name);
    }
    session_.death_tests().forget();
    report_.skip();
    bool const prints = show == Show::all || (show == Show::failed && result.failed());
    if (prints && !session_.is_mute()) session_.perf().print_test();
    if (run_records_ != nullptr) run_records_->end_test(name, result);
    if (result.failed()) record_where_to_look(result, report);  // only in the report: the recording has the records
    session_.end_test();
    path_.reset();
    test_ = nullptr;
    tracing::support::set_running_test(nullptr);
    begin_phase(Phase::after_test, name.c_str());
  }

  void end_suite(std::string_view name, std::vector<Property> const& properties) {
    if (run_records_ != nullptr) run_records_->properties(name, properties);
  }

  void end_program(Totals const& totals, std::vector<Property> const& properties) {
    runs_ = false;
    begin_phase(Phase::after_tests, "");
    if (run_records_ != nullptr) run_records_->properties({}, properties);
    if (session_.environment().spdlog) tracing::bridge::detach_all();
    if (session_.environment().show == Show::all) {
      report_.print_matching({});
      report_.skip();
    }
    report_unmatched(session_, totals.ran_all ? Unmatched::all : Unmatched::near);
    if (!session_.is_mute()) {
      if (session_.environment().filter_help) tracing::environment::print_filter_help(session_.output());
      session_.perf().report_if_none_was_measured(totals.ran_all);
      session_.perf().print_run();
    }
    session_.perf().finish();
    session_.recording_file().end_run(
        {.passed = !has_failed_ && totals.passed, .tests = totals.tests, .failed = totals.failed});
    if (has_failed_ && !session_.is_mute()) say_where_to_read_on(totals);
    if (has_failed_ && session_.environment().ci == Ci::cdash) report_to_cdash();
  }

 private:
  std::string_view running_test() const { return test_ == nullptr ? std::string_view() : *test_; }

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

  // Adds a property for the framework's files, unless the test itself has recorded a property with this name.
  static void add_property(Result& result, std::string const& name, std::string const& value) {
    auto const is_known = [&name](Property const& known) { return known.name == name; };
    if (std::any_of(result.properties.begin(), result.properties.end(), is_known)) return;
    framework::current().record_property(name, value);
    result.properties.push_back({name, value});
  }

  void record_where_to_look(Result& result, std::string const& report) {
    constexpr std::size_t kMaxBytes = 4096;
    if (!report.empty()) add_property(result, "trace_report", beginning_for_xml(report, kMaxBytes));
    std::string const& recording = session_.recording_file().path();
    if (!recording.empty()) add_property(result, "trace_recording", beginning_for_xml(recording, kMaxBytes));
  }

  // Sums up several failures, unless ctest will do so. Otherwise prints the command that shows the recording, unless
  // the user chose the file by TRACE_RECORD. Also prints why the default file could not be made.
  void say_where_to_read_on(Totals const& totals) {
    RecordingFile const& file = session_.recording_file();
    if (!file.problem().empty()) session_.output().write_note("report", file.problem());
    std::string const summary = file.is_of_ctest() ? "" : failed_tests_.text(totals.tests, file.path());
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

  // Prints nothing for work of the running test that is in no span.
  void print_place(Place const& place) {
    if (place.path.empty() && !place.owner.late) return;
    Output& output = session_.output();
    tracing::support::ThreadInfo const& thread = tracing::support::this_thread_info();
    tracing::Track const track{thread.number, thread.name};
    tracing::InlineTextBuffer<256> line;
    line.append("    ");
    if (place.owner.late) append_owner(line, session_.attribution(), place.owner);
    if (place.path.empty()) {
      line.resize_down(line.size() - 1);  // the space after the label
    } else {
      line.append(place.preposition);
      line.append(" ");
      line.append(place.path);
    }
    line.append("\n");
    output.write(output.note("failure", running_test(), line.view(), &track));
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
    static Recorder* here = nullptr;
    if (std::exchange(here, this) != nullptr) return;
    std::atexit([] {
      if (here->runs_ && getpid() == here->process_) here->report_exit();
    });
  }

  void report_exit() {
    if (run_records_ != nullptr) run_records_->exit_of_process(running_test());
    std::string headline =
        test_ == nullptr ? "the process called exit() outside any test" : headline_ + ": the process called exit()";
    tracing::InlineTextBuffer<256> path;
    tracing::append_current_path(path);
    if (!path.view().empty()) headline.append(", in ").append(path.view());
    // With --gtest_throw_on_failure, exit() also runs if main() catches the exception and returns. The failure has been
    // reported by then.
    copy_death_tests();
    report_.print_unreported(headline, test_ != nullptr && !has_ended_test_);
  }

  // Never destroyed: late records are labelled with the names of tests that have ended, even after the framework has
  // destroyed its listeners at the end of the program.
  static std::string const& kept(std::string_view name) {
    static auto& names = *new std::set<std::string, std::less<>>;
    auto const known = names.find(name);
    return known != names.end() ? *known : *names.emplace(name).first;
  }

  Session& session_;
  UnreportedRecords& unreported_;
  FailureReport report_;
  FailedTests failed_tests_{session_.capture()};
  RunRecords* const run_records_ = session_.run_records();  // null if there are none
  bool has_failed_ = false;
  bool has_ended_test_ = false;          // a failure that ends the test at once, which may end the process
  std::string const* test_ = nullptr;    // the name of the running test
  std::string headline_{};               // of the running test
  std::pair<std::string, int> place_{};  // of the last test, in the source
  bool runs_ = false;                    // the program runs tests
  pid_t process_ = 0;                    // the process that runs the tests
  std::optional<std::string> path_{};    // of the first failure of the test, or of what runs between tests
};

Recorder* recorder = nullptr;

}  // namespace

void start(framework::Framework const& framework, framework::Process const& process) {
  if (process.lists_tests || Session::get() != nullptr) return;
  framework::set_current(framework);
  Session::start(process);
}

bool take() noexcept {
  Session* const session = Session::get();
  if (session == nullptr || !session->take_listeners()) return false;
  recorder = new Recorder(*session);  // never destroyed, as the session
  return true;
}

void begin_program() { recorder->begin_program(); }
void begin_repetition(framework::Repetition const& repetition) { recorder->begin_repetition(repetition); }
void begin_set_up() { recorder->begin_set_up(); }
void end_set_up() { recorder->end_set_up(); }
void begin_suite(char const* name) { recorder->begin_suite(name); }
void begin_test(framework::Test const& test, Settings const& settings) { recorder->begin_test(test, settings); }
void part(Part const& part) { recorder->part(part); }
void fatal_signal(std::string_view name) noexcept { report_fatal_signal(name); }
void check_test(bool was_skipped) { recorder->check_test(was_skipped); }
void end_test(Result result) { recorder->end_test(std::move(result)); }
void end_suite(std::string_view name, std::vector<Property> const& properties) {
  recorder->end_suite(name, properties);
}
void check_run() { Session::get()->fail_on().raise_late_failures(); }
void end_repetition(Totals const& totals) { recorder->end_repetition(totals); }
void end_program(Totals const& totals, std::vector<Property> const& properties) {
  recorder->end_program(totals, properties);
}

}}}  // namespace testlog::v1::test_run
