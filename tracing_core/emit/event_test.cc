#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/support/recording_subscriber.h"
#include "tracing_core/tracing.h"

namespace event_test { namespace {

using tracing_test::Recording;

struct Grid {
  int x = 4;
  int y = 5;
};

class Event : public testing::Test {
 protected:
  // Returns the fields of the only event so far.
  std::string fields() { return recording_->take_fields(); }

  Recording recording_;
  int n_ = 7;
};

TEST_F(Event, HasLevelAndTarget) {
  TRACE_ERROR("a");
  TRACE_WARN("b");
  TRACE_INFO("c");
  TRACE_DEBUG("d");
  TRACE_TRACE("e");
  TRACE_LOG(warn, "f");
  EXPECT_EQ(recording_->take(), (std::vector<std::string>{
                                    "event ERROR event_test \"a\"",
                                    "event WARN event_test \"b\"",
                                    "event INFO event_test \"c\"",
                                    "event DEBUG event_test \"d\"",
                                    "event TRACE event_test \"e\"",
                                    "event WARN event_test \"f\"",
                                }));
  EXPECT_EQ(recording_->last_event()->line(), __LINE__ - 9U);
  EXPECT_EQ(recording_->last_event()->file(), __FILE__);
  EXPECT_EQ(recording_->last_event()->function(), "TestBody");
  EXPECT_EQ(recording_->last_event()->name(), "event");
}

// Emits one event with these arguments and compares its fields.
#define EXPECT_FIELDS(expected, ...) \
  do {                               \
    TRACE_INFO(__VA_ARGS__);         \
    EXPECT_EQ(fields(), expected);   \
  } while (false)

TEST_F(Event, FillsItsMessageAndRecordsTheRestAsFields) {
  int const n = 3;
  int const stream = 9;
  EXPECT_FIELDS("\"none\" n=3 stream=9", "none", n, stream);
  EXPECT_FIELDS("\"moved 3 bytes\" stream=9", "moved {} bytes", n, stream);
  EXPECT_FIELDS("\"3 and 9\"", "{} and {}", n, stream);
  EXPECT_FIELDS("\"3 3\" stream=9", "{0} {0}", n, stream);
  EXPECT_FIELDS("\"9 3\"", "{1} {0}", n, stream);
  EXPECT_FIELDS("\"9\" n=3", "{1}", n, stream);
  EXPECT_FIELDS("\"        3|\"", "{:{}}|", n, stream);
  EXPECT_FIELDS("\"        3|\"", "{0:>{1}}|", n, stream);
  EXPECT_FIELDS("\"1.500|\" stream=9", "{:.{}f}|", 1.5, n, stream);
  EXPECT_FIELDS("\"3|\"", "{:{}}|", n, 1000);
  double const ratio = 2.0;
  EXPECT_FIELDS("\"2, 2.00 and 1e+21\" ratio=2.0", "{}, {:.2f} and {}", ratio, ratio, 1e21F,
                tracing::kv("ratio", ratio));
  EXPECT_FIELDS("\"2.0\"", "{}", tracing::debug(ratio));
  EXPECT_FIELDS("\"{}\" n=3", "{{}}", n);
  EXPECT_FIELDS("\"{3}\"", "{{{}}}", n);
  EXPECT_FIELDS("\"a } b { c\"", "a }} b {{ c");
  EXPECT_FIELDS("\"\"", "");
}

TEST_F(Event, PrintsTheDebugFormOfEveryTypeOfValue) {
  std::string const text = "a\n";
  EXPECT_FIELDS(R"(""a\n" "a\n" "c" """)", "{:?} {:?} {:?} {:?}", text, "a\n", 'c', std::string_view());
  EXPECT_FIELDS(R"("3 2.0 true ["a", "b"]")", "{:?} {:?} {:?} {:?}", 3, 2.0, true, std::vector<std::string>{"a", "b"});
  EXPECT_FIELDS(R"("     "a"|"a"  |**"a"**")", "{:>8?}|{:{}?}|{:*^7?}", "a", "a", 5, "a");
  EXPECT_FIELDS(R"(""a"" text="a\n")", "{0:?}", "a", text);
  EXPECT_FIELDS(R"(""a\n"" text="a\n")", "{text:?}", text);
  EXPECT_FIELDS(R"(""u" "w"|  x|")", "{:?} {:?}|{:>3}|", u8"u", L'w', u"x");
}

TEST_F(Event, RecordsFieldsThatItsMessageNames) {
  int const n = 3;
  int const stream = 9;
  EXPECT_FIELDS("\"3 bytes\" n=3 stream=9", "{n} bytes", n, stream);
  EXPECT_FIELDS("\"        3 bytes\" n=3 stream=9", "{n:>{stream}} bytes", n, stream);
  EXPECT_FIELDS("\"3 and 9\" stream=9", "{} and {stream}", n, stream);
  EXPECT_FIELDS("\"gemm\" kernel.name=\"gemm\"", "{kernel.name}", tracing::kv("kernel.name", "gemm"));
  EXPECT_FIELDS("\"1\" kernel-name=1", "{kernel-name}", tracing::kv("kernel-name", 1));
  Grid grid;
  auto const* p = &grid;
  EXPECT_FIELDS("\"4 5\" grid.x=4 p.y=5", "{grid.x} {p.y}", grid.x, p->y);
}

TEST_F(Event, AlwaysRecordsAKeyValue) {
  EXPECT_FIELDS("\"3\" rows=3", "{}", tracing::kv("rows", 3));
  EXPECT_FIELDS("\"1 3\" rows=3 name=x", "{} {}", 1, tracing::kv("rows", 3),
                tracing::kv("name", tracing::display("x")));
}

inline constexpr char kRows[] = "rows";

TEST_F(Event, NamesFieldsByTheirText) {
  Grid grid;
  auto const* p = &grid;
  EXPECT_FIELDS("\"\" grid.x=4 p.y=5 n=7", "", grid.x, p->y, this->n_);
  EXPECT_FIELDS("\"\" rows=3", "", tracing::kv<kRows>(3));
  EXPECT_FIELDS("\"3\" rows=3", "{rows}", tracing::kv<kRows>(3));
  errno = 2;
  TRACE_INFO("", errno, __func__);
  EXPECT_EQ(fields(), "\"\" errno=2 __func__=\"TestBody\"");
  auto const [a, b] = std::tuple(1, 2);
  EXPECT_FIELDS("\"1\" b=2", "{}", a, b);
}

TEST_F(Event, RecordsValuesWithoutAMessage) {
  int const x = 1;
  int const y = 2;
  TRACE_VALUES(info, x, y, tracing::kv("sum", x + y));
  EXPECT_EQ(fields(), "x=1 y=2 sum=3");
  TRACE_VALUES(info);
  EXPECT_EQ(fields(), "");
}

TEST_F(Event, AcceptsTargetAndParent) {
  TRACE_INFO("a", tracing::target("my::target"));
  EXPECT_EQ(recording_->take_one(), "event INFO my::target \"a\"");
  int const n = 1;
  TRACE_INFO("{}", tracing::target("my::target"), n, tracing::parent(nullptr), tracing::kv("m", 2));
  EXPECT_EQ(recording_->take_one(), "event INFO my::target root \"1\" m=2");
  auto const span = TRACE_MAKE_SPAN(info, "span");
  recording_->take();
  TRACE_INFO("a", tracing::target("t"), tracing::parent(span));
  EXPECT_EQ(recording_->take_one(), "event INFO t below 1 \"a\"");
  TRACE_INFO("a", tracing::target("t"), tracing::parent(span.id()));
  EXPECT_EQ(recording_->take_one(), "event INFO t below 1 \"a\"");
}

TEST_F(Event, EvaluatesItsArgumentsOnceIfEnabledAndNeverOtherwise) {
  int evaluated = 0;
  auto next = [&evaluated] { return ++evaluated; };
  TRACE_INFO("{}", next(), tracing::kv("b", 1));
  EXPECT_EQ(fields(), "\"1\" b=1");
  TRACE_INFO("{0} {0}", next());
  EXPECT_EQ(fields(), "\"2 2\"");
  TRACE_VALUES(info, tracing::kv("a", next()));
  EXPECT_EQ(fields(), "a=3");
  {
    tracing::ScopedDefault const no_subscriber(nullptr);
    TRACE_INFO("{}", next());
    TRACE_VALUES(info, tracing::kv("a", next()));
  }
  {
    Recording const others(tracing::LevelFilter::warn);
    TRACE_INFO("{}", next());
    EXPECT_EQ(others->take().size(), 0U);
  }
  recording_->set_dynamic(false);
  tracing::rebuild_interest();
  TRACE_INFO("{}", next());
  EXPECT_EQ(evaluated, 3);
  EXPECT_EQ(recording_->take().size(), 0U);
}

TEST_F(Event, EnabledIsTrueIfASubscriberWantsTheLevel) {
  EXPECT_TRUE(TRACE_ENABLED(trace));
  Recording const others(tracing::LevelFilter::warn);
  EXPECT_FALSE(TRACE_ENABLED(info));
  EXPECT_TRUE(TRACE_ENABLED(warn));
  EXPECT_EQ(others->take().size(), 0U);
}

struct Bits {
  unsigned low : 3;
  int high : 5;
};
int function(double) { return 1; }

TEST_F(Event, AcceptsArgumentsOfAnyKind) {
  Bits bits{5, -3};
  EXPECT_FIELDS("\"5\" bits.high=-3", "{}", bits.low, bits.high);
  int volatile v = 3;
  EXPECT_FIELDS("\"\" v=3", "", v);
  auto owned = std::make_unique<int>(1);
  EXPECT_FIELDS("\"\" value=1 same=1", "", tracing::kv("value", *owned), tracing::kv("same", *std::move(owned)));
  std::unique_ptr<int> none;
  EXPECT_FIELDS("\"\"", "", none);
  int array[] = {1, 2};
  EXPECT_FIELDS("\"\" array=[1, 2]", "", array);
  TRACE_INFO("", function);
  EXPECT_EQ(fields().substr(0, 14), "\"\" function=0x");
  EXPECT_FIELDS("\"[(1, 2)]\" n=7", "{}", std::vector<std::pair<int, int>>{{1, 2}}, n_);
  EXPECT_FIELDS("\"false\" n=7", "{}", std::is_same_v<int, long>, n_);
  EXPECT_FIELDS("\"false true\"", "{} {}", (n_ < 3), 5 > 1);
  EXPECT_FIELDS("\"8\"", "{}", [this] { return n_ + 1; }());
  EXPECT_FIELDS("\"" + std::string(100, 'x') + "\"", "{}", std::string(100, 'x'));
  std::string_view const view = "view";
  EXPECT_FIELDS("\"\" view=\"view\"", "", view);
  char const letter = 'c';
  EXPECT_FIELDS("\"x\" letter=\"c\"", "{}", 'x', letter);
}

TEST_F(Event, CanBeInsideAnArgument) {
  auto inner = [] {
    TRACE_INFO("inner");
    return 1;
  };
  TRACE_INFO("{}", inner());
  EXPECT_EQ(recording_->take().size(), 2U);
  TRACE_INFO("{}", [] {
    TRACE_INFO("inner {}", 2, tracing::kv("a", 3));
    return 1;
  }());
  auto const lines = recording_->take();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("\"inner 2\" a=3"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("\"1\""), std::string::npos) << lines[1];
}

TEST_F(Event, AcceptsManyArguments) {
  int const a = 1;
  EXPECT_FIELDS("\"11111111111111111111\"", "{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}", a, a, a, a, a, a, a, a, a, a, a,
                a, a, a, a, a, a, a, a, a);
  EXPECT_FIELDS("\"111111111\"", "{0}{0}{0}{0}{0}{0}{0}{0}{0}", a);
  EXPECT_FIELDS("\" 1 1 1 1 1 1\"", "{:{}}{:{}}{:{}}{:{}}{:{}}{:{}}", a, 2, a, 2, a, 2, a, 2, a, 2, a, 2);
}

TEST_F(Event, EmittedByASubscriberIsDropped) {
  recording_->on_event = [] { TRACE_INFO("from the subscriber"); };
  TRACE_INFO("a");
  EXPECT_EQ(recording_->take().size(), 1U);
}

TEST(EventOutsideClasses, HasItsNamespaceAsTarget) {
  Recording const recording;
  [] { TRACE_INFO("a"); }();
  std::thread([&] {
    tracing::ScopedDefault const scope(recording.shared());
    TRACE_INFO("b");
  }).join();
  EXPECT_EQ(recording->take().size(), 2U);
}

}}  // namespace event_test
