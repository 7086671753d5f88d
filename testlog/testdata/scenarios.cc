// Tests that other tests run as a separate program, selected by --gtest_filter, to check what it prints and how it
// ends. The other files of scenarios in this folder belong to the same program.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <testlog/matchers.h>
#include <testlog/testlog.h>
#include <tracing_core/collect/span_trace.h>
#include <tracing_core/dispatch/thread_name.h>

#include "testlog/testdata/library.h"

namespace {

using library::speak;
using library::work;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;
using testlog::Event;
using testlog::HasField;
using testlog::HasLevel;
using testlog::HasMessage;
using testlog::HasTarget;
using testlog::InSpan;
using testlog::records;
using testlog::Span;

// ---- passing and failing ----

TEST(Plain, Passes) { work(); }
TEST(Plain, Fails) {
  work();
  TRACE_SPAN(info, "outer", tracing::kv("id", 7));
  TRACE_SPAN(debug, "inner");
  EXPECT_EQ(1, 2);
  TRACE_DEBUG("after the failure");
}
TEST(Plain, FailsTwice) {
  {
    TRACE_SPAN(info, "first");
    ADD_FAILURE();
  }
  TRACE_SPAN(info, "second");
  ADD_FAILURE();
}
TEST(Plain, FailsSilently) { ADD_FAILURE(); }
TEST(Plain, Throws) { library::fail_inside(3); }
TEST(Plain, ThrowsOutsideSpans) {
  try {
    library::fail_inside(3);
  } catch (std::exception const&) {
    TRACE_WARN("caught");
  }
  throw std::runtime_error("elsewhere");
}
struct SpeaksAtItsEnd {
  ~SpeaksAtItsEnd() {
    TRACE_SPAN(info, "cleaning");
    speak();
  }
};
TEST(Exceptions, PassThroughDestructors) {
  TRACE_SPAN(info, "outer");
  SpeaksAtItsEnd const last;
  {
    TRACE_SPAN(info, "inner");
    SpeaksAtItsEnd const first;
    throw std::runtime_error("passing by");
  }
}
void speak_and_throw() {
  TRACE_SPAN(info, "second");
  throw std::runtime_error("the second one");
}
TEST(Exceptions, InAnInnerSpanAfterACaughtOne) {
  EXPECT_THROW(library::fail_inside(3), std::runtime_error);
  speak_and_throw();
}
TEST(Exceptions, ThrownAgain) {
  TRACE_SPAN(info, "outer");
  try {
    library::fail_inside(3);
  } catch (std::exception const&) {
    TRACE_WARN("caught");
    throw;
  }
}
struct MakesASpanAtItsEnd {
  ~MakesASpanAtItsEnd() { auto const never_entered = TRACE_MAKE_SPAN(info, "cleaning"); }
};
TEST(Exceptions, PassSpansThatAreOnlyMade) {
  TRACE_SPAN(info, "outer");
  {
    TRACE_SPAN(info, "inner");
    MakesASpanAtItsEnd const last;
    throw std::runtime_error("passing by");
  }
}
TEST(Plain, Skips) {
  work();
  GTEST_SKIP() << "not today";
}
TEST_LOG(Skipped, AfterAnError, .fail_on = warn) {
  TRACE_WARN("looking for a device");
  TRACE_SPAN(info, "probe");
  TRACE_ERROR("no device");
  GTEST_SKIP() << "no GPU";
}
TEST(Plain, ExpectsAFailure) {
  work();
  EXPECT_NONFATAL_FAILURE(ADD_FAILURE() << "on purpose", "on purpose");
}
TEST(Plain, DISABLED_IsDisabled) { FAIL(); }

// ---- captured records ----

TEST(Captured, ContainsEverything) {
  work(5);
  EXPECT_THAT(records(), SizeIs(7));
  EXPECT_THAT(records(), Contains(Event(HasLevel(tracing::Level::trace), HasMessage("spoken"), HasTarget("library"),
                                        InSpan("launch", HasField("count", 5)), InSpan("compile"))));
  EXPECT_THAT(records(), Contains(Span("compile", HasField("kernel", HasSubstr("doub")), InSpan("launch"))));
  EXPECT_THAT(records(), Not(Contains(Event(InSpan("elsewhere")))));
  EXPECT_SPAN_COUNT("compile", Le(1));
  EXPECT_EVENT_COUNT(Event(HasLevel(tracing::Level::warn)), 1);
}
TEST(Captured, StartsEmpty) { EXPECT_THAT(records(), IsEmpty()); }
TEST(Captured, SpansAtTrace) {
  TRACE_SPAN(trace, "deep", tracing::kv("n", 1u));
  EXPECT_THAT(records(), ElementsAre(Span("deep", HasField("n", 1))));
}
TEST(Captured, SinceAMark) {
  TRACE_INFO("before");
  testlog::Mark const mark = testlog::mark();
  TRACE_INFO("after");
  EXPECT_THAT(records().since(mark), ElementsAre(Event(HasMessage("after"))));
  EXPECT_THAT(records().since(testlog::mark()), IsEmpty());
}
TEST(Captured, TooMuch) {
  for (int i = 0; i < 200000; ++i) TRACE_TRACE("filling", i);
  EXPECT_THAT(records(), Not(IsEmpty()));
}
TEST(Captured, TooMuchFails) {
  for (int i = 0; i < 200000; ++i) {
    TRACE_TRACE("filling", i);
    if (i == 195000) TRACE_ERROR("in the middle");
  }
  ADD_FAILURE();
}
TEST_LOG(Captured, TooMuchWithoutAnError, .fail_on = error) {
  for (int i = 0; i < 200000; ++i) TRACE_TRACE("filling", i);
}
TEST_LOG(Captured, AFieldOfAMegabyte, .fail_on = error) {
  std::string const image(std::size_t{1} << 20, 'x');
  TRACE_DEBUG("received", image);
  EXPECT_THAT(records(),
              ElementsAre(Event(HasMessage("received"), HasField("image", HasSubstr("xxx... (1048576 bytes)")))));
  ADD_FAILURE();
}

// ---- a library that records only spans ----

namespace numbers {

void multiply(int rows, int columns) {
  TRACE_SPAN(debug, "multiply", rows, columns);
  library::wait_ms(1);
}
void forward() {
  TRACE_SPAN(info, "forward");
  {
    TRACE_SPAN(debug, "attention", tracing::kv("heads", 2));
    multiply(2, 3);
    multiply(4, 5);
  }
  TRACE_SPAN(info, "norm");
}

}  // namespace numbers

TEST(SpansOnly, Passes) { numbers::forward(); }
TEST(SpansOnly, Fails) {
  numbers::forward();
  TRACE_SPAN(info, "checking");
  ADD_FAILURE();
}

// ---- what is enabled ----

TEST(Enabled, IsPrinted) {
  bool const span = !TRACE_MAKE_SPAN(error, "span").is_disabled();
  std::printf("enabled: event %d, span %d\n", TRACE_ENABLED(error), span);
}

// ---- settings ----

TEST_LOG(Settings, None) { work(); }
TEST_LOG(Settings, DefaultFilter, .default_filter = "library=debug") { work(); }
TEST_LOG(Settings, MisspeltFilter, .default_filter = "librray=debug") {
  work();
  ADD_FAILURE();
}
TEST_LOG(Settings, WrongFilter, .default_filter = "info,library=debgu") { work(); }
TEST_LOG(Settings, ScopedFilters, .default_filter = "error") {
  {
    testlog::ScopedFilter const filter("scenarios=debug");
    TRACE_DEBUG("shown");
    {
      testlog::ScopedFilter const inner("off");
      TRACE_ERROR("not shown");
    }
    TRACE_DEBUG("shown");
  }
  TRACE_DEBUG("not shown");
}
TEST_LOG(Settings, FailsOnWarnings, .fail_on = warn) { work(); }
TEST_LOG(Settings, ToleratesWarnings, .default_filter = "off", .fail_on = error) { TRACE_WARN("tolerated"); }
TEST_LOG(Settings, AllowsSomeWarnings, .fail_on = warn) {
  {
    testlog::AllowEvents const allow(Event(HasTarget("scenarios"), HasMessage("expected"), InSpan("inside")));
    TRACE_SPAN(info, "inside");
    TRACE_WARN("expected");
    std::thread(tracing::with_current_span([] { TRACE_WARN("expected"); })).join();
  }
  TRACE_WARN("expected");
}

TEST_LOG_SUITE(StrictSuite, .fail_on = warn);
TEST(StrictSuite, FailsOnWarnings) { TRACE_WARN("too much"); }
TEST_LOG(StrictSuite, MayTolerateThem, .fail_on = error) { TRACE_WARN("tolerated"); }

TEST_LOG(Settings, DISABLED_IsDisabled, .fail_on = warn) { FAIL(); }

class Fixture : public testing::Test {
 protected:
  static void SetUpTestSuite() { TRACE_INFO("suite set up"); }
  static void TearDownTestSuite() { TRACE_INFO("suite torn down"); }
  Fixture() { TRACE_INFO("constructed"); }
  ~Fixture() override { TRACE_INFO("destroyed"); }
  void SetUp() override { TRACE_INFO("set up"); }
  void TearDown() override { TRACE_INFO("torn down"); }
};
TEST_LOG_F(Fixture, Shows, .fail_on = error) { TRACE_INFO("body"); }
TEST_F(Fixture, Fails) {
  TRACE_DEBUG("deep");
  ADD_FAILURE();
}
TEST_F(Fixture, ShowsToo) { TRACE_INFO("second body"); }

class SetUpOnce : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    TRACE_SPAN(info, "opening");
    TRACE_INFO("device opened");
    TRACE_DEBUG("device has room for {} bytes", 4);
    RecordProperty("room", 4);
  }
  static void TearDownTestSuite() { TRACE_DEBUG("device closed"); }
};
TEST_F(SetUpOnce, APasses) { TRACE_DEBUG("of a test that passed"); }
TEST_F(SetUpOnce, BFails) {
  TRACE_DEBUG("of the first that failed");
  ADD_FAILURE();
}
TEST_F(SetUpOnce, CFails) {
  TRACE_DEBUG("of the second that failed");
  ADD_FAILURE();
}
TEST_F(SetUpOnce, DFillsTheRecording) {
  for (int i = 0; i < 200000; ++i) TRACE_TRACE("filling", i);
}
TEST_F(SetUpOnce, EFails) {
  TRACE_DEBUG("of one that failed");
  ADD_FAILURE();
}
TEST_F(SetUpOnce, FDies) { std::abort(); }

class SetUpFills : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (int i = 0; i < 200000; ++i) TRACE_TRACE("filling", i);
  }
};
TEST_F(SetUpFills, Fails) {
  TRACE_DEBUG("of one that failed");
  ADD_FAILURE();
}

class Values : public testing::TestWithParam<int> {
  FRIEND_TEST(Values, Fails);
};
TEST_LOG_P(Values, Fails, .fail_on = warn) {
  TRACE_DEBUG("deep");
  TRACE_WARN("value", tracing::kv("n", GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Some, Values, testing::Values(1, 2));
TEST(Some_Values, Fails_0) { TRACE_INFO("value of another test"); }

template <class T>
class Types : public testing::Test {};
using TwoTypes = testing::Types<int, char>;
TYPED_TEST_SUITE(Types, TwoTypes);
TYPED_TEST_LOG(Types, Fails, .fail_on = warn) {
  TRACE_DEBUG("deep");
  TRACE_WARN("type");
}

template <class T>
class Patterns : public testing::Test {};
TYPED_TEST_SUITE_P(Patterns);
TYPED_TEST_LOG_P(Patterns, Fails, .fail_on = warn) { TRACE_WARN("pattern"); }
REGISTER_TYPED_TEST_SUITE_P(Patterns, Fails);
INSTANTIATE_TYPED_TEST_SUITE_P(Some, Patterns, int);

// ---- outside of tests ----

bool const outside_too = std::getenv("SCENARIO_OUTSIDE") != nullptr;
[[maybe_unused]] bool const in_static_initialiser = (outside_too ? library::speak() : void(), true);

class Surroundings : public testing::Environment {
 public:
  void SetUp() override {
    TRACE_INFO("environment set up");
    TRACE_DEBUG("environment set up in detail");
    testing::Test::RecordProperty("devices", 2);
  }
  void TearDown() override {
    TRACE_INFO("environment torn down");
    EXPECT_STRNE(std::getenv("SCENARIO_OUTSIDE"), "fails");
  }
};
[[maybe_unused]] testing::Environment* const surroundings =
    outside_too ? testing::AddGlobalTestEnvironment(new Surroundings) : nullptr;

// ---- the filter inside a test ----

TEST(Filter, ChangesInATest) {
  TRACE_DEBUG("before the change");
  testlog::set_filter("debug");
  TRACE_DEBUG("after the change");
}
TEST(Filter, IsRestored) { TRACE_DEBUG("in the next test"); }

// ---- text that would control a terminal or look like a record ----

void say_hostile_things() {
  std::string const text = "\xff\x1b[2J\n INFO scenarios: forged \uffff";
  TRACE_WARN("message {}", text, tracing::kv("value", tracing::display(text)));
  TRACE_DEBUG("message {}", text, tracing::kv("value", tracing::display(text)));
  std::thread([&text] {
    tracing::set_thread_name(text);
    TRACE_SPAN(info, "threaded", tracing::kv("path", tracing::display(text)));
    TRACE_WARN("from a thread");
    TRACE_DEBUG("from a thread");
  }).join();
}
TEST_LOG(Hostile, Fails, .fail_on = warn) {
  TRACE_SPAN(info, "outer", tracing::kv("path", tracing::display("\xff\x1b[2J\n INFO scenarios: forged \uffff")));
  say_hostile_things();
  ADD_FAILURE();
}
TEST(Hostile, ThrowsInALongPath) {
  std::string text;
  while (text.size() < 1000) text += "\u00e9";
  TRACE_SPAN(info, "cut", tracing::kv("path", tracing::display(text)));
  throw std::runtime_error("in a long path");
}
TEST(Hostile, Dies) {
  TRACE_SPAN(info, "outer", tracing::kv("path", tracing::display("\xff\x1b[2J\n INFO scenarios: forged \uffff")));
  say_hostile_things();
  std::abort();
}

// ---- redacted values ----

namespace secrets {

constexpr char kCanary[] = "canary";
struct User {
  std::string password = kCanary;
  std::vector<std::map<std::string, std::string>> headers{{{"token", kCanary}, {"accept", "all"}}};
};
TRACE_FIELDS(User, password, headers)

// Records a value in every way in which it gets into a record.
void report() {
  std::string const password = kCanary;
  User const user;
  TRACE_SPAN(info, "span", password, user, tracing::kv("token", kCanary));
  auto const later = TRACE_MAKE_SPAN(info, "later", tracing::kv("token", tracing::empty));
  later.record(tracing::kv("token", kCanary));
  auto const entered = later.enter();
  TRACE_INFO("{} and {token} and {}", password, user.password, tracing::kv("token", kCanary));
  TRACE_DEBUG("{:>20} of {}", password, user, tracing::kv("user", tracing::pretty(user)));
  TRACE_VALUES(warn, password, user.password, tracing::kv("token", tracing::display(password)));
}

}  // namespace secrets

TEST(Secrets, Fails) {
  secrets::report();
  {
    TRACE_PERF("login", tracing::kv("token", secrets::kCanary));
    TRACE_PERF_EVENT("logged in", tracing::kv("token", secrets::kCanary));
  }
  TRACE_SPAN(info, "open", tracing::kv("token", secrets::kCanary));
  std::printf("inside of:\n%s\n", tracing::SpanTrace::capture().to_string().c_str());
  EXPECT_THAT(records(), IsEmpty());
  throw std::runtime_error("no value in here");
}

TEST(Dies, WithSecrets) {
  secrets::report();
  TRACE_SPAN(info, "open", tracing::kv("token", secrets::kCanary));
  std::abort();
}

}  // namespace
