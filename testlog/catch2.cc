// The listener that connects testlog to Catch2 3. Part of every program that links testlog::catch2, and compiled with
// the program's own Catch2, since Catch2 does not promise that versions fit each other.
#include <catch2/catch_assertion_result.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_version_macros.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#undef TRACE_TARGET
#define TRACE_TARGET "testlog::catch2"
#include "testlog/internal/listener_parts.h"
#include "testlog/test_run.h"

#define TESTLOG_TEXT_2_(x) #x
#define TESTLOG_TEXT_(x) TESTLOG_TEXT_2_(x)
#define TESTLOG_CATCH2_VERSION_      \
  TESTLOG_TEXT_(CATCH_VERSION_MAJOR) \
  "." TESTLOG_TEXT_(CATCH_VERSION_MINOR) "." TESTLOG_TEXT_(CATCH_VERSION_PATCH)

namespace testlog { inline namespace v1 { namespace internal { namespace {

using framework::Part;
using framework::Result;

bool runs_test = false;

void raise_failure(char const* file, int line, std::string const& message) {
  if (!runs_test) return fail_late(file, line, message);
  FAIL_CHECK(std::string(file) + ":" + std::to_string(line) + ": " + message);
}

constexpr framework::Framework kCatch2{
    .name = "Catch2", .version = TESTLOG_CATCH2_VERSION_, .raise_failure = raise_failure};

// Options whose value is the next argument.
constexpr std::string_view kOptionsWithValues[] = {"-o",
                                                   "--out",
                                                   "-r",
                                                   "--reporter",
                                                   "-n",
                                                   "--name",
                                                   "-x",
                                                   "--abortx",
                                                   "-w",
                                                   "--warn",
                                                   "-d",
                                                   "--durations",
                                                   "-D",
                                                   "--min-duration",
                                                   "-f",
                                                   "--input-file",
                                                   "-c",
                                                   "--section",
                                                   "-v",
                                                   "--verbosity",
                                                   "--order",
                                                   "--rng-seed",
                                                   "--colour-mode",
                                                   "--wait-for-keypress",
                                                   "--shard-count",
                                                   "--shard-index",
                                                   "--benchmark-samples",
                                                   "--benchmark-resamples",
                                                   "--benchmark-confidence-interval",
                                                   "--benchmark-warmup-time"};
constexpr std::string_view kOptionsThatList[] = {
    "--list-tests", "--list-tags", "--list-reporters", "--list-listeners", "--libidentify", "-?", "-h", "--help"};

framework::Process read_process(int argc, char const* const* argv) noexcept {
  framework::Process process{.argc = argc, .argv = argv};
  int specs = 0;
  std::string_view spec;
  for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
    std::string_view const argument = argv[i];
    if (is_in(argument, kOptionsThatList)) process.lists_tests = true;
    if (is_in(argument, kOptionsWithValues)) ++i;
    if (argument.starts_with('-')) continue;
    ++specs;
    spec = argument;
  }
  if (specs == 1 && spec.find_first_of("*~[") != 0 && spec.find_first_of("*,[\"") == spec.npos)
    process.only_test = without_backslashes(spec);
  return process;
}

std::string message_of(Catch::AssertionStats const& stats) {
  Catch::AssertionResult const& result = stats.assertionResult;
  std::string text;
  if (result.hasExpression()) text += result.getExpressionInMacro();
  if (result.hasExpandedExpression()) text += "\nwith expansion:\n  " + result.getExpandedExpression();
  if (result.hasMessage()) text += (text.empty() ? "" : "\n") + std::string(result.getMessage());
  for (Catch::MessageInfo const& info : stats.infoMessages) {
    if (std::string_view(result.getMessage().data(), result.getMessage().size()) != info.message)
      text += (text.empty() ? "" : "\n") + info.message;
  }
  return text;
}

class Catch2Listener final : public Catch::EventListenerBase {
 public:
  explicit Catch2Listener(Catch::IConfig const* config) : EventListenerBase(config), is_on_(test_run::take()) {}
  static std::string getDescription() { return "testlog: shows what the tested library does"; }

  void testRunStarting(Catch::TestRunInfo const&) override {
    if (!is_on_) return;
    test_run::begin_program();
    test_run::begin_repetition({});
  }

  void testCaseStarting(Catch::TestCaseInfo const& test) override {
    if (!is_on_) return;
    timer_.start();
    may_fail_ = test.okToFail();
    test_run::begin_test({.name = test.name,
                          .headline = test.name,
                          .file = test.lineInfo.file,
                          .line = static_cast<int>(test.lineInfo.line)},
                         {});
    runs_test = true;
  }
  // The outermost section is the test itself.
  void testCasePartialStarting(Catch::TestCaseInfo const&, std::uint64_t) override {
    depth_ = 0;
    is_skipped_ = false;
  }
  void sectionStarting(Catch::SectionInfo const& section) override {
    if (is_on_ && depth_ > 0) sections_.begin(section.name);
    ++depth_;
  }
  // Here a failure still counts, and the reporters still know the section.
  void sectionEnded(Catch::SectionStats const&) override {
    --depth_;
    if (!is_on_) return;
    depth_ > 0 ? sections_.end() : test_run::check_test(is_skipped_);
  }

  void assertionEnded(Catch::AssertionStats const& stats) override {
    if (!is_on_) return;
    Catch::AssertionResult const& result = stats.assertionResult;
    bool const is_skip = result.getResultType() == Catch::ResultWas::ExplicitSkip;
    if ((!is_skip && result.isOk()) || may_fail_) return;
    is_skipped_ |= is_skip;
    std::string const message = message_of(stats);
    bool const is_exception = result.getResultType() == Catch::ResultWas::ThrewException;
    test_run::part({.kind = is_skip ? Part::Kind::skip : Part::Kind::failure,
                    .file = result.getSourceInfo().file,
                    .line = static_cast<int>(result.getSourceInfo().line),
                    .message = message,
                    .is_exception = is_exception});
  }

  void testCaseEnded(Catch::TestCaseStats const& stats) override {
    if (!is_on_) return;
    runs_test = false;
    Catch::Counts const& counts = stats.totals.testCases;
    failed_ += counts.failed > 0 ? 1 : 0;
    ++tests_;
    test_run::end_test({.outcome = counts.failed > 0    ? Result::Outcome::failed
                                   : counts.skipped > 0 ? Result::Outcome::skipped
                                                        : Result::Outcome::passed,
                        .duration_ms = timer_.elapsed_ms()});
  }

  void testRunEnded(Catch::TestRunStats const& stats) override {
    if (!is_on_) return;
    test_run::check_run();
    framework::Totals const totals{
        .passed = stats.totals.testCases.failed == 0, .ran_all = false, .tests = tests_, .failed = failed_};
    test_run::end_repetition(totals);
    test_run::end_program(totals, {});
  }

  // Called in Catch2's handler of the signal. Catch2 then reports the test as if it had ended, so later calls are
  // ignored.
  void fatalErrorEncountered(Catch::StringRef error) override {
    if (!is_on_) return;
    is_on_ = false;
    std::string_view const text(error.data(), error.size());
    test_run::fatal_signal(text.substr(0, text.find(' ')));
  }

 private:
  bool is_on_;
  bool may_fail_ = false, is_skipped_ = false;
  SectionSpans sections_;
  int depth_ = 0;
  Stopwatch timer_;
  int tests_ = 0, failed_ = 0;
};

CATCH_REGISTER_LISTENER(Catch2Listener)

// Before other initialisers, to capture what they record. glibc passes the arguments of main() to initialisers, too.
[[gnu::constructor(101)]] void begin(int argc, char** argv) { start(kCatch2, read_process(argc, argv)); }

}}}}  // namespace testlog::v1::internal
