#include "testlog/googletest.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/settings.h"
#include "testlog/test_run.h"
#include "tracing_core/support/short_text.h"

namespace testlog { inline namespace v1 { namespace internal {
namespace {

using framework::Part;
using framework::Property;
using framework::Result;
using testing::TestInfo;
using testing::TestPartResult;
using testing::TestResult;
using testing::TestSuite;
using testing::UnitTest;

constexpr framework::Framework kGoogleTest{
    .name = "GoogleTest",
    .version = TESTLOG_GOOGLETEST_VERSION,
    .raise_failure = [](char const* file, int line,
                        std::string const& message) { ADD_FAILURE_AT(file, line) << message; },
    .record_property = [](std::string const& name,
                          std::string const& value) { testing::Test::RecordProperty(name, value); },
    .writes_results = [] { return !GTEST_FLAG_GET(output).empty(); },
    .is_death_test_child = []() noexcept { return testing::internal::InDeathTestChild(); }};

std::string name_of(TestInfo const& test) { return std::string(test.test_suite_name()) + "." + test.name(); }

std::string headline_of(TestInfo const& test) {
  std::string text = name_of(test);
  if (test.value_param() != nullptr) text.append(", where GetParam() = ").append(test.value_param());
  if (test.type_param() != nullptr) text.append(", where TypeParam = ").append(test.type_param());
  return text;
}

std::vector<Property> properties_of(TestResult const& result) {
  std::vector<Property> properties;
  for (int i = 0; i < result.test_property_count(); ++i) {
    testing::TestProperty const& property = result.GetTestProperty(i);
    properties.push_back({property.key(), property.value()});
  }
  return properties;
}

framework::Totals totals_of(UnitTest const& program) {
  return {.passed = program.Passed() && !program.Failed(),
          .ran_all = program.test_to_run_count() == program.total_test_count() - program.disabled_test_count(),
          .tests = program.test_to_run_count(),
          .failed = program.failed_test_count()};
}

int number_of(char const* variable, int otherwise) noexcept {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// Added before the checker: it sees the failures that the checker raises and, since GoogleTest calls listeners in
// reverse order at the end of a test, ends the test after it.
class Listener final : public testing::EmptyTestEventListener {
 public:
  void OnTestProgramStart(UnitTest const&) override { test_run::begin_program(); }
  void OnTestIterationStart(UnitTest const& program, int iteration) override {
    test_run::begin_repetition({.number = iteration,
                                .seed = program.random_seed(),
                                .shards = number_of("GTEST_TOTAL_SHARDS", 1),
                                .shard = number_of("GTEST_SHARD_INDEX", 0)});
  }
  void OnEnvironmentsSetUpStart(UnitTest const&) override { test_run::begin_set_up(); }
  void OnEnvironmentsSetUpEnd(UnitTest const&) override { test_run::end_set_up(); }
  void OnTestSuiteStart(TestSuite const& suite) override { test_run::begin_suite(suite.name()); }

  void OnTestStart(TestInfo const& test) override {
    test_run::begin_test({.name = name_of(test),
                          .headline = headline_of(test),
                          .file = test.file(),
                          .line = test.line(),
                          .value_param = test.value_param(),
                          .type_param = test.type_param()},
                         settings_of(test.test_suite_name(), test.name(), test.type_param() != nullptr));
  }

  void OnTestPartResult(TestPartResult const& result) override {
    if (result.passed()) return;
    bool const ends_test = GTEST_FLAG_GET(break_on_failure) || GTEST_FLAG_GET(throw_on_failure);
    test_run::part({.kind = result.skipped()          ? Part::Kind::skip
                            : result.fatally_failed() ? Part::Kind::fatal_failure
                                                      : Part::Kind::failure,
                    .file = result.file_name(),
                    .line = result.line_number(),
                    .message = result.message(),
                    // Exceptions are the only failures that GoogleTest reports without a place in the source.
                    .is_exception = result.file_name() == nullptr,
                    .ends_test = ends_test});
  }

  void OnTestEnd(TestInfo const& test) override {
    TestResult const& result = *test.result();
    test_run::end_test({.outcome = result.Failed()    ? Result::Outcome::failed
                                   : result.Skipped() ? Result::Outcome::skipped
                                                      : Result::Outcome::passed,
                        .duration_ms = static_cast<std::int64_t>(result.elapsed_time()),
                        .properties = properties_of(result)});
  }
  void OnTestSuiteEnd(TestSuite const& suite) override {
    test_run::end_suite(suite.name(), properties_of(suite.ad_hoc_test_result()));
  }
  void OnTestIterationEnd(UnitTest const& program, int) override { test_run::end_repetition(totals_of(program)); }
  void OnTestProgramEnd(UnitTest const& program) override {
    test_run::end_program(totals_of(program), properties_of(program.ad_hoc_test_result()));
  }
};

// Raises failures. Not part of Listener, because a listener that gets failures must not raise them.
class Checker final : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(TestInfo const& test) override { test_run::check_test(test.result()->Skipped()); }
  // Called before the result of the run is known.
  void OnEnvironmentsTearDownEnd(UnitTest const&) override { test_run::check_run(); }
};

// Returns the value of a flag of GoogleTest, "1" if it has none. For other arguments, data() == nullptr.
std::string_view flag_value(std::string_view argument, std::string_view flag) noexcept {
  std::size_t const dashes = argument.starts_with("--")                               ? 2
                             : argument.starts_with("-") || argument.starts_with("/") ? 1
                                                                                      : 0;
  if (dashes == 0) return {};
  argument.remove_prefix(dashes);
  if (!argument.starts_with("gtest_")) return {};
  argument.remove_prefix(6);
  if (!argument.starts_with(flag)) return {};
  argument.remove_prefix(flag.size());
  if (argument.empty()) return "1";
  return argument.front() == '=' ? argument.substr(1) : std::string_view{};
}

// Reads a boolean as GoogleTest does.
bool is_on(std::string_view value) noexcept {
  return value.data() != nullptr && !(value.starts_with('0') || value.starts_with('f') || value.starts_with('F'));
}

bool is_one_test(std::string_view filter) noexcept { return filter.find_first_of("*?:-") == filter.npos; }

bool is_of_googletest(std::string_view argument) noexcept {
  argument = tracing::support::without_leading(argument, "-/");
  return argument.starts_with("gtest_") || argument.starts_with("gmock_");
}

}  // namespace

framework::Process read_process(int argc, char const* const* argv) noexcept {
  framework::Process process{.argc = argc, .argv = argv, .is_of_framework = is_of_googletest};
  if (char const* const color = std::getenv("GTEST_COLOR")) process.color = color;
  std::string_view filter;
  if (char const* const variable = std::getenv("GTEST_FILTER")) filter = variable;
  for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
    std::string_view const argument = argv[i];
    if (argument == "--") break;
    if (auto const value = flag_value(argument, "list_tests"); value.data() != nullptr)
      process.lists_tests = is_on(value);
    if (flag_value(argument, "internal_run_death_test").size() > 1) process.death_test_child = true;
    if (auto const value = flag_value(argument, "color"); value.data() != nullptr) process.color = value;
    if (auto const value = flag_value(argument, "filter"); value.data() != nullptr) filter = value;
  }
  if (is_one_test(filter)) process.only_test = filter;
  return process;
}

void install_listeners() {
  if (!test_run::take()) return;
  auto& listeners = UnitTest::GetInstance()->listeners();
  listeners.Append(new Listener);
  listeners.Append(new Checker);
}

namespace {

// Before other initialisers, to capture what they record. glibc passes the arguments of main() to initialisers, too.
[[gnu::constructor(101)]] void start(int argc, char** argv) { test_run::start(kGoogleTest, read_process(argc, argv)); }

// Runs with the ordinary initialisers: GoogleTest is usable then, since every TEST registers itself there.
[[maybe_unused]] bool const installed = (install_listeners(), true);

}  // namespace
}}}  // namespace testlog::v1::internal

// Named by an object in every program that links testlog::testlog, so that the linker keeps the library and this
// listener.
extern "C" int const testlog_keep_linked;
int const testlog_keep_linked = 1;
