// The listener that connects testlog to doctest 2. Part of every program that links testlog::doctest, and compiled with
// the program's own doctest, since doctest does not promise that versions fit each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#undef TRACE_TARGET
#define TRACE_TARGET "testlog::doctest"
#include "testlog/internal/listener_parts.h"
#include "testlog/test_run.h"

namespace testlog { inline namespace v1 { namespace internal { namespace {

using framework::Part;
using framework::Result;

bool runs_test = false;  // until doctest decides about the result, which is before listeners see the end of a test

void raise_failure(char const* file, int line, std::string const& message) {
  if (!runs_test) return fail_late(file, line, message);
  ADD_FAIL_CHECK_AT(file, line, message.c_str());
}

constexpr framework::Framework kDoctest{
    .name = "doctest", .version = DOCTEST_VERSION_STR, .raise_failure = raise_failure};

constexpr std::string_view kOptionsThatList[] = {"l",
                                                 "list-test-cases",
                                                 "lts",
                                                 "list-test-suites",
                                                 "ltc",
                                                 "lr",
                                                 "list-reporters",
                                                 "c",
                                                 "count",
                                                 "h",
                                                 "help",
                                                 "?",
                                                 "v",
                                                 "version",
                                                 "nr",
                                                 "no-run"};

framework::Process read_process(int argc, char const* const* argv) noexcept {
  framework::Process process{.argc = argc, .argv = argv};
  for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
    std::string_view option = argv[i];
    if (!option.starts_with('-')) continue;
    option.remove_prefix(option.starts_with("--") ? 2 : 1);
    if (option.starts_with("dt-")) option.remove_prefix(3);
    std::string_view const name = option.substr(0, option.find('='));
    std::string_view const value = option.substr(std::min(name.size() + 1, option.size()));
    if (is_in(name, kOptionsThatList)) process.lists_tests = true;
    bool const selects = name == "tc" || name == "test-case";
    if (selects && value.find_first_of("*?") == value.npos) process.only_test = without_backslashes(value);
  }
  return process;
}

class DoctestListener final : public doctest::IReporter {
 public:
  explicit DoctestListener(doctest::ContextOptions const&) : is_on_(test_run::take()) {}

  void test_run_start() override {
    if (!is_on_) return;
    test_run::begin_program();
    test_run::begin_repetition({});
  }

  void test_case_start(doctest::TestCaseData const& test) override {
    if (!is_on_) return;
    may_fail_ = test.m_may_fail || test.m_should_fail || test.m_expected_failures > 0;
    test_run::begin_test({.name = test.m_name,
                          .headline = test.m_name,
                          .file = test.m_file.c_str(),
                          .line = static_cast<int>(test.m_line)},
                         {});
    timer_.start();
    runs_test = true;
  }
  void test_case_reenter(doctest::TestCaseData const&) override { sections_.end_all(); }
  void subcase_start(doctest::SubcaseSignature const& subcase) override {
    if (is_on_) sections_.begin(subcase.m_name.c_str());
  }
  void subcase_end() override {
    if (is_on_) sections_.end();
  }

  // doctest calls these with a lock held, on the thread of the assertion.
  void log_assert(doctest::AssertData const& assertion) override {
    if (!is_on_ || may_fail_ || !assertion.m_failed || (assertion.m_at & doctest::assertType::is_warn) != 0) return;
    bool const is_required = (assertion.m_at & doctest::assertType::is_require) != 0;
    std::string text = std::string(doctest::assertString(assertion.m_at)) + "( " + assertion.m_expr + " )";
    if (assertion.m_threw) text += std::string(" threw ") + assertion.m_exception.c_str();
    if (assertion.m_decomp.size() != 0) text += std::string("\nvalues: ") + assertion.m_decomp.c_str();
    fail(is_required, assertion.m_file, assertion.m_line, text, false);
  }
  void log_message(doctest::MessageData const& message) override {
    if (!is_on_ || may_fail_ || (message.m_severity & doctest::assertType::is_warn) != 0) return;
    bool const is_required = (message.m_severity & doctest::assertType::is_require) != 0;
    fail(is_required, message.m_file, message.m_line, message.m_string.c_str(), false);
  }
  void test_case_exception(doctest::TestCaseException const& exception) override {
    if (!is_on_) return;
    std::string_view const text = exception.error_string.c_str();
    if (!exception.is_crash) return may_fail_ ? void() : fail(true, nullptr, 0, text, true);
    is_on_ = false;  // doctest then reports the test as if it had ended
    test_run::fatal_signal(text.substr(0, text.find(' ')));
  }

  void test_case_end(doctest::CurrentTestCaseStats const& stats) override {
    if (!is_on_) return;
    sections_.end_all();
    runs_test = false;
    bool const had_late_failure = std::exchange(has_late_failure, false);
    test_run::check_test(false);
    bool const has_failed = !stats.testCaseSuccess || has_late_failure;
    has_late_failure |= had_late_failure;
    ++tests_;
    failed_ += has_failed ? 1 : 0;
    test_run::end_test({.outcome = has_failed ? Result::Outcome::failed : Result::Outcome::passed,
                        .duration_ms = timer_.elapsed_ms()});
  }

  void test_run_end(doctest::TestRunStats const& stats) override {
    if (!is_on_) return;
    test_run::check_run();
    framework::Totals const totals{.passed = stats.numTestCasesFailed == 0 && !has_late_failure,
                                   .ran_all = stats.numTestCases == stats.numTestCasesPassingFilters,
                                   .tests = tests_,
                                   .failed = failed_};
    test_run::end_repetition(totals);
    test_run::end_program(totals, {});
  }

  void report_query(doctest::QueryData const&) override {}
  void test_case_skipped(doctest::TestCaseData const&) override {}

 private:
  void fail(bool is_fatal, char const* file, int line, std::string_view message, bool is_exception) {
    test_run::part({.kind = is_fatal ? Part::Kind::fatal_failure : Part::Kind::failure,
                    .file = file,
                    .line = line,
                    .message = message,
                    .is_exception = is_exception});
  }

  bool is_on_;
  bool may_fail_ = false;
  SectionSpans sections_;
  Stopwatch timer_;
  int tests_ = 0, failed_ = 0;
};

REGISTER_LISTENER("testlog", 1, DoctestListener);

// Before other initialisers, to capture what they record. glibc passes the arguments of main() to initialisers, too.
[[gnu::constructor(101)]] void begin(int argc, char** argv) { start(kDoctest, read_process(argc, argv)); }

}}}}  // namespace testlog::v1::internal
