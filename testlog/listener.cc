#include "testlog/listener.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "testlog/capture.h"
#include "testlog/checks.h"
#include "testlog/crash.h"
#include "testlog/explanation.h"
#include "testlog/perf_outputs.h"
#include "testlog/session.h"
#include "testlog/settings.h"
#include "testlog/story.h"
#include "tracing_core/bridge/spdlog.h"

namespace testlog::inline v1::internal {
namespace {

using testing::TestInfo;
using testing::TestPartResult;
using testing::TestSuite;
using testing::UnitTest;

// Where a failure happened, for the line behind it and the report.
struct Place {
  std::string_view what;  // "in" or "thrown in"
  std::string path;
};

Place place_of(TestPartResult const& failure, tracing::Registry const& registry) {
  tracing::InlineTextBuffer<256> path;
  append_current_path(path, registry);
  // GoogleTest reports exceptions, and they alone, without a place in the source.
  std::string unwound = failure.file_name() == nullptr ? unwound_path() : std::string();
  if (!unwound.empty()) return {"thrown in", std::move(unwound)};
  return {"in", std::string(path.view())};
}

std::string headline_of(TestInfo const& test) {
  std::string text = std::string(test.test_suite_name()) + "." + test.name();
  if (test.value_param() != nullptr) text.append(", where GetParam() = ").append(test.value_param());
  if (test.type_param() != nullptr) text.append(", where TypeParam = ").append(test.type_param());
  return text;
}

// Shows and tells. Stands before the checker, so that it hears of what that one finds and, since ends are told in reverse,
// prints after it.
class Recorder final : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(Session& session) : session_(session), story_(session) {}

  void OnTestProgramStart(UnitTest const&) override {
    session_.report_bad_values();
    runs_ = true;
    session_.set_telling(true);
    install_crash_handlers(session_);
    tell_of_exit();
    tracing::bridge::refresh_spdlog();  // loggers that the program made before its tests
  }

  // The first one begins with the first record: static initialisers belong to it.
  void OnEnvironmentsSetUpStart(UnitTest const&) override {
    session_.untold().begin(Untold::of_environments, session_.untold().first_of_tests());
  }
  void OnEnvironmentsSetUpEnd(UnitTest const&) override {
    session_.untold().end(Untold::of_environments, session_.next_record());
  }
  void OnTestSuiteStart(TestSuite const&) override { session_.untold().begin(Untold::of_suite, session_.next_record()); }

  void OnTestStart(TestInfo const& test) override {
    session_.untold().end(Untold::of_suite, session_.next_record());
    test_ = &test;
    path_recorded_ = false;
    forget_unwound();
    session_.begin_test(name_of(test), find_settings(test.test_suite_name(), test.name(), test.type_param() != nullptr));
    tracing::bridge::refresh_spdlog();
  }

  void OnTestPartResult(TestPartResult const& result) override {
    if (!result.failed()) return;
    Place const place = place_of(result, session_.registry());
    if (!place.path.empty()) {
      if (!session_.is_mute()) session_.output().write("    " + std::string(place.what) + " " + place.path + "\n");
      if (!path_recorded_) testing::Test::RecordProperty("trace_span_path", place.path);
      path_recorded_ = true;
    }
    bool const ends_here = GTEST_FLAG_GET(break_on_failure) || GTEST_FLAG_GET(throw_on_failure);
    if (test_ == nullptr) story_.tell_unshown({"a failure outside any test; what was recorded and not shown"});
    if (test_ != nullptr && ends_here) tell_failure();
  }

  void OnTestEnd(TestInfo const& test) override {
    if (test.result()->Failed()) {
      tell_failure();
      report_unmatched(session_);
    } else if (session_.environment().show == Show::all) {
      story_.tell_selected();
    }
    story_.skip();
    Show const show = session_.environment().show;
    bool const tells = show == Show::all || (show == Show::failed && test.result()->Failed());
    if (session_.perf() != nullptr && tells && !session_.is_mute()) session_.perf()->print_test();
    session_.end_test();
    test_ = nullptr;
  }

  void OnTestProgramEnd(UnitTest const& program) override {
    runs_ = false;
    session_.set_telling(false);
    if (session_.environment().show == Show::all) story_.tell_selected();
    bool const whole = program.test_to_run_count() == program.total_test_count() - program.disabled_test_count();
    if (whole) report_unmatched(session_);
    if (session_.environment().filter_help) print_filter_help(session_);
    if (session_.perf() == nullptr) return;
    if (!session_.is_mute()) {
      session_.perf()->tell_if_none_was_selected(whole);
      session_.perf()->print_run();
    }
    session_.perf()->finish();
  }

 private:
  void tell_failure() { story_.tell_unshown({headline_of(*test_) + ": what it recorded and did not show"}); }

  // exit() inside a test ends the process without a word of GoogleTest's. Children that a test forked may do so.
  void tell_of_exit() {
    process_ = getpid();
    static Recorder* told = nullptr;
    if (std::exchange(told, this) != nullptr) return;
    std::atexit([] {
      if (told->runs_ && getpid() == told->process_) told->tell_exit();
    });
  }

  void tell_exit() {
    tracing::InlineTextBuffer<256> path;
    append_current_path(path, session_.registry());
    std::string text = test_ == nullptr ? "the process called exit() outside any test, while tests were to run"
                                        : headline_of(*test_) + ": the process called exit() inside the test";
    if (!path.empty()) text.append(", in ").append(path.view());
    text.append("; what it recorded and did not show");
    story_.tell_unshown({.text = text, .is_news = test_ != nullptr});
  }

  // Kept, since late records name tests that have ended.
  std::string const& name_of(TestInfo const& test) {
    std::string& name = names_[&test];
    if (name.empty()) name.append(test.test_suite_name()).append(".").append(test.name());
    return name;
  }

  Session& session_;
  Story story_;
  TestInfo const* test_ = nullptr;
  bool runs_ = false;  // RUN_ALL_TESTS()
  pid_t process_ = 0;  // that runs the tests
  std::map<TestInfo const*, std::string> names_;
  bool path_recorded_ = false;
};

// Raises failures. Stands behind the recorder: a listener that hears of results must not raise them.
class Checker final : public testing::EmptyTestEventListener {
 public:
  explicit Checker(Session& session) : session_(session) {}

  void OnTestEnd(TestInfo const& test) override {
    Settings const* const settings = find_settings(test.test_suite_name(), test.name(), test.type_param() != nullptr);
    if (settings != nullptr && settings->fail_on) check_fail_on(session_, *settings->fail_on);
  }

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

// Before other initialisers, so that what those record is there. glibc hands main()'s arguments to initialisers too.
[[gnu::constructor(101)]] void start_session(int argc, char** argv) { Session::start(read_role(argc, argv)); }

// With other initialisers: by now GoogleTest's own variables may be used as any TEST uses them.
[[maybe_unused]] bool const installed = (install_listeners(), true);

}  // namespace
}  // namespace testlog::inline v1::internal

int const testlog_keep_linked = 1;
