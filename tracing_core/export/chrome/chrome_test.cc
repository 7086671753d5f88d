#include "tracing_core/export/chrome.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/approval.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/emit/past_span.h"
#include "tracing_core/export/chrome/chrome_test_support.h"
#include "tracing_core/format/field_format.h"
#include "tracing_core/support/thread_info.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using namespace chrome_test;

// ---- records ----

TEST(ChromeLayer, WritesSpansOfThreadsAndEventsAsStrictJson) {
  auto const records = trace({}, emit_a_little);
  EXPECT_EQ(phases(records), "B outer|i hello you|B inner|E inner|E outer");
  for (Json const& record : records) {
    EXPECT_EQ(record["pid"], getpid());
    EXPECT_EQ(record["tid"], gettid());
    EXPECT_TRUE(record["ts"].is_number());
    EXPECT_GE(record["ts"], 0);
  }
  EXPECT_EQ(records[0]["cat"], "tracing::chrome_test");
  EXPECT_EQ(records[1]["s"], "t");
}

TEST(ChromeLayer, WritesTheApprovedText) {
  for (auto const style : {ChromeStyle::threaded, ChromeStyle::async}) {
    std::string const text = trace_text({.style = style, .include_locations = false}, [] {
      auto span = TRACE_MAKE_SPAN(info, "request", tracing::kv("id", 7), tracing::kv("path", "/a\n\"b\""),
                                  tracing::kv("done", tracing::empty));
      auto const entered = span.enter();
      TRACE_SPAN(debug, "parse");
      TRACE_INFO("read {} bytes", 12, tracing::kv("last", true));
      span.record(tracing::kv("done", 3));
    });
    std::string const fixed =
        std::regex_replace(std::regex_replace(text, std::regex(R"x("(pid|tid)":\d+)x"), "\"$1\":4711"),
                           std::regex(R"x("ts":\d+\.\d{3})x"), "\"ts\":1.500");
    testing::expect_approved(style == ChromeStyle::threaded ? "chrome_threaded.txt" : "chrome_async.txt", fixed);
  }
}

TEST(ChromeLayer, KeepsTheTypesOfArguments) {
  auto const records = trace({.include_locations = false}, [] {
    TRACE_VALUES(info, tracing::kv("i", -1), tracing::kv("u", ~0ULL), tracing::kv("f", 1.5), tracing::kv("b", true),
                 tracing::kv("s", "a\"b\x01"), tracing::kv("nan", std::numeric_limits<double>::quiet_NaN()),
                 tracing::kv("d", tracing::display("bare")), tracing::kv("e", std::runtime_error("broken")),
                 tracing::kv("none", tracing::empty));
  });
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]["args"],
            Json::parse(R"({"i":-1,"u":18446744073709551615,"f":1.5,"b":true,"s":"a\"b\u0001","nan":null,
                                                "d":"bare","e":"broken"})"));
}

TEST(ChromeLayer, PutsLocationsAmongTheArguments) {
  auto const records = trace({}, [] { TRACE_SPAN(info, "work", tracing::kv("x", 1)); });
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0]["args"][".file"].get<std::string>().ends_with("chrome_test.cc"));
  EXPECT_GT(records[0]["args"][".line"], 0);
  EXPECT_EQ(records[0]["args"]["x"], 1);
  EXPECT_FALSE(records[1].contains("args")) << records[1];
}

TEST(ChromeLayer, OmitsArgumentsAndLocationsOnRequest) {
  for (Json const& record : trace({.include_args = false, .include_locations = false}, emit_a_little)) {
    EXPECT_FALSE(record.contains("args")) << record;
  }
}

TEST(ChromeLayer, WritesLaterFieldsAtTheEndOfASpan) {
  for (auto const style : {ChromeStyle::threaded, ChromeStyle::async}) {
    auto const records = trace({.style = style, .include_locations = false}, [] {
      auto span = TRACE_MAKE_SPAN(info, "work", tracing::kv("size", 1), tracing::kv("result", tracing::empty));
      span.in_scope([&] {
        span.record(tracing::kv("result", "first"));
        span.record(tracing::kv("result", "last"));
      });
    });
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0]["args"], Json({{"size", 1}}));
    EXPECT_EQ(records[1]["args"], Json({{"result", "last"}}));
  }
}

TEST(ChromeLayer, NamesAnEventByMessageElseNameElseLocation) {
  RuntimeCallsite const named({.name = "cache miss", .target = "app", .fields = {"message"}});
  auto const records = trace({}, [&] {
    Value const message = Value::of_text("not here");
    TRACE_INFO("hello");
    TRACE_VALUES(info, tracing::kv("x", 1));
    emit_event(named.callsite(), &message);
  });
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0]["name"], "hello");
  EXPECT_FALSE(records[0]["args"].contains("message"));
  EXPECT_NE(records[1]["name"].get<std::string>().find("chrome_test.cc:"), std::string::npos);
  EXPECT_EQ(records[2]["name"], "cache miss");
  EXPECT_EQ(records[2]["args"]["message"], "not here");
}

TEST(ChromeLayer, TakesNamesAndCategoriesFromFunctions) {
  ChromeOptions options;
  options.include_locations = false;
  options.name = [](TextBuffer& out, ChromeSubject const& subject) {
    out.append(subject.event != nullptr ? "event \"" : "span ");
    out.append(subject.metadata.name());
    if (!subject.span) return;
    SpanLock const lock = subject.span.lock();
    subject.span.values().for_each_group(subject.metadata,
                                         [&](FieldValues const& fields) { default_fields()->append(out, fields, {}); });
  };
  options.category = [](TextBuffer& out, ChromeSubject const& subject) { out.append(name(subject.metadata.level())); };
  auto const records = trace(options, emit_a_little);
  EXPECT_EQ(phases(records), "B span outerid=7|i event \"event|B span inner|E span inner|E span outerid=7");
  EXPECT_EQ(records[0]["cat"], "INFO");
  EXPECT_EQ(records[1]["args"]["message"], "hello you");
  EXPECT_EQ(records[2]["cat"], "DEBUG");
}

TEST(ChromeLayer, PutsAsyncSpansOnTheTrackOfTheirRootUntilClosed) {
  auto const records = trace({.style = ChromeStyle::async}, [](RegistryPtr const& registry) {
    auto first = TRACE_MAKE_SPAN(info, "first");
    auto second = TRACE_MAKE_SPAN(info, "second");
    auto below = TRACE_MAKE_SPAN(info, "below", tracing::parent(first));
    first = {};  // `below` keeps it open
    std::thread([&] { with_default(registry, [&] { below.in_scope([&] { TRACE_SPAN(info, "deeper"); }); }); }).join();
    below = {};
  });
  EXPECT_EQ(phases(records), "b first|b second|b below|b deeper|e deeper|e below|e first|e second");
  std::vector<Json> ids;
  for (Json const& record : records) ids.push_back(record["id2"]["local"]);
  EXPECT_EQ(ids, (std::vector<Json>{"1", "2", "1", "1", "1", "1", "1", "2"}));
}

// Viewers identify an async track by number and category.
TEST(ChromeLayer, GivesAsyncSpansTheCategoryOfTheirRoot) {
  for (bool const by_level : {false, true}) {
    ChromeOptions options{.style = ChromeStyle::async, .include_locations = false};
    if (by_level) {
      options.category = [](TextBuffer& out, ChromeSubject const& subject) {
        out.append(name(subject.metadata.level()));
      };
    }
    auto const records = trace(options, [] {
      TRACE_SPAN(info, "root", tracing::target("app"));
      TRACE_SPAN(debug, "below", tracing::target("net"), tracing::kv("size", 1));
      TRACE_SPAN(trace, "deeper", tracing::target("app"));
    });
    EXPECT_EQ(phases(records), "b root|b below|b deeper|e deeper|e below|e root");
    for (Json const& record : records) EXPECT_EQ(record["cat"], by_level ? "INFO" : "app") << record;
    EXPECT_EQ(records[1]["args"], by_level ? Json({{"size", 1}}) : Json({{".target", "net"}, {"size", 1}}));
    EXPECT_FALSE(records[2].contains("args")) << records[2];
    EXPECT_FALSE(records[4].contains("args")) << records[4];
  }
}

TEST(ChromeLayer, BeginsASpanTwiceIfEnteredTwice) {
  auto const records = trace({}, [] {
    auto span = TRACE_MAKE_SPAN(info, "work");
    span.in_scope([&] { span.in_scope([] {}); });
  });
  EXPECT_EQ(phases(records), "B work|B work|E work|E work");
}

// ---- threads and processes ----

TEST(ChromeLayer, NamesTheProcessAndEachNamedThreadOnce) {
  auto const records = records_of(trace_text({}, [](RegistryPtr const& registry) {
    TRACE_INFO("one");
    TRACE_INFO("two");
    std::thread([&] {
      set_thread_name("worker \"1\"");
      with_default(registry, [] {
        TRACE_INFO("three");
        TRACE_INFO("four");
      });
    }).join();
  }));
  std::vector<std::string> names;
  for (Json const& record : records) {
    if (record["ph"] != "M") continue;
    names.push_back(record["name"].get<std::string>() + " " + record["args"]["name"].get<std::string>());
    EXPECT_EQ(record["pid"], getpid());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"process_name " + std::string(program_invocation_short_name),
                                             "thread_name main", "thread_name worker \"1\""}));
  EXPECT_NE(records.back()["tid"], gettid());
}

TEST(ChromeLayer, CallsAThreadWithoutANameByItsNumber) {
  std::uint64_t number = 0;
  auto const records = records_of(trace_text({}, [&](RegistryPtr const& registry) {
    std::thread([&] {
      set_thread_name("");
      number = support::this_thread_info().number;
      with_default(registry, [] { TRACE_INFO("event"); });
    }).join();
  }));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1]["args"]["name"], "thread " + std::to_string(number));
  EXPECT_EQ(records[1]["tid"], records[2]["tid"]);
}

TEST(ChromeLayer, DoesNotNameAThreadByASliceThatIsNoSpan) {
  std::string text;
  auto [layer, guard] = chrome_layer({.sink = into(text)});
  guard.begin_slice("test");
  guard.end_slice("test");
  guard = {};
  EXPECT_EQ(phases(records_of(text)), "M process_name|B test|E test");
}

TEST(ChromeLayer, NumbersTracksThatAreNotThreads) {
  RuntimeCallsite const callsite({.target = "gpu", .fields = {"message"}});
  std::string text;
  auto [layer, guard] = chrome_layer({.sink = into(text)});
  auto const registry = RegistryBuilder().with(std::move(layer)).build();
  Track const track{9000, "stream 7"};
  Value const message = Value::of_text("kernel");
  for (int i = 0; i < 2; ++i) {
    Event const event{
        FieldValues(callsite.metadata(), &message), Parent::root(), ~LayerMask{0}, {&track, Instant{1'000}}};
    registry->event(event);
  }
  guard = {};
  auto const records = records_of(text);
  ASSERT_EQ(records.size(), 4U) << text;
  EXPECT_EQ(records[1]["args"]["name"], "stream 7");
  EXPECT_EQ(records[2]["tid"], records[1]["tid"]);
  EXPECT_GT(records[2]["tid"], 1 << 22);
  EXPECT_EQ(records[2]["ts"], 0.0);  // long before the trace began
}

TEST(ChromeLayer, NamesARunOfAKernelAfterTheKernel) {
  RuntimeCallsite const callsite(
      {.kind = Kind::span, .name = "kernel", .target = "tracing::cuda::device", .fields = {"kernel.name"}});
  Track const track{9000, "GPU 0 stream 7"};
  auto const run = [&] {
    Value const name = Value::of_verbatim("saxpy");
    std::int64_t const now = Instant::now().ns;
    emit_past_span(callsite.callsite(), &name, {track, Instant{now + 1'000}, Instant{now + 3'000}});
  };
  auto const records = records_of(trace_text({}, run));
  ASSERT_GE(records.size(), 3U);
  Json const& begin = records[records.size() - 2];
  EXPECT_EQ(begin["name"], "saxpy");
  EXPECT_EQ(begin["ph"], "B");
  EXPECT_NEAR(records.back()["ts"].get<double>() - begin["ts"].get<double>(), 2.0, 1e-6);
}

// ---- as tracing-chrome ----

TEST(ChromeLayer, WritesTheBytesOfTracingChromeOnRequest) {
  std::string text = trace_text({.include_args = true, .as_tracing_chrome = true}, [](RegistryPtr const& registry) {
    std::thread([&] {
      set_thread_name("");
      with_default(registry,
                   [] { TRACE_INFO("hello", tracing::target("t"), tracing::kv("x", "y"), tracing::kv("a", 1.0)); });
    }).join();
  });
  text = std::regex_replace(text, std::regex(R"x("ts":[0-9.]+)x"), "\"ts\":0.0");
  text = std::regex_replace(text, std::regex(R"x([^" ]*chrome_test.cc)x"), "chrome_test.cc");
  text = std::regex_replace(text, std::regex(R"x((cc:|line":)\d+)x"), "$019");
  EXPECT_EQ(text,
            "[\n{\"args\":{\"name\":\"0\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0},\n"
            "{\".file\":\"chrome_test.cc\",\".line\":9,\"args\":{\"a\":\"1.0\",\"message\":\"hello\",\"x\":"
            "\"\\\"y\\\"\"},\"cat\":\"t\","
            "\"name\":\"event chrome_test.cc:9\",\"ph\":\"i\",\"pid\":1,\"s\":\"t\",\"tid\":0,\"ts\":0.0}\n]");
}

TEST(ChromeLayer, WritesTheEmptyListOfTracingChrome) {
  EXPECT_EQ(trace_text({.as_tracing_chrome = true}, [] {}), "[\n\n]");
}

}}  // namespace tracing
