// Records are written later, by another thread: nothing is lost, mixed up or changed by then.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/export/chrome/chrome_test_support.h"
#include "tracing_core/tracing.h"

namespace tracing { namespace {

using namespace std::chrono_literals;
using namespace chrome_test;

TEST(ChromeStream, WritesRecordsInTheOrderOfTime) {
  std::string expected;
  auto const records = trace({}, [&](RegistryPtr const& registry) {
    for (int i = 0; i < 50; ++i) {
      std::thread([&] { with_default(registry, [] { TRACE_SPAN(info, "other"); }); }).join();
      TRACE_INFO("own");
      expected += std::string(i == 0 ? "" : "|") + "B other|E other|i own";
    }
  });
  EXPECT_EQ(phases(records), expected);
}

TEST(ChromeStream, NamesEachThreadThatFollowsAnother) {
  std::vector<std::string> expected;
  auto const records = records_of(trace_text({}, [&](RegistryPtr const& registry) {
    for (int i = 0; i < 20; ++i) {
      std::thread([&] {
        std::string const name = "worker " + std::to_string(i);
        set_thread_name(name.c_str());
        with_default(registry, [] { TRACE_INFO("done"); });
        expected.insert(expected.end(), {name + " " + std::to_string(gettid()), "done " + std::to_string(gettid())});
      }).join();
    }
  }));
  std::vector<std::string> got;
  for (Json const& record : records) {
    Json const& name = record["ph"] == "M" ? record["args"]["name"] : record["name"];
    got.push_back(name.get<std::string>() + " " + std::to_string(record["tid"].get<int>()));
  }
  got.erase(got.begin());  // the process
  EXPECT_EQ(got, expected);
}

struct Point {
  int x;
  friend std::ostream& operator<<(std::ostream& out, Point const& p) { return out << '<' << p.x << '>'; }
};

// The values of these records are destroyed or changed before the records are written.
void emit_everything(std::string const& tag) {
  auto const text = std::make_unique<std::string>("a \"text\"\n" + tag);
  Point point{7};
  auto span = TRACE_MAKE_SPAN(info, "outer", tracing::kv("text", *text), tracing::kv("later", tracing::empty),
                              tracing::kv("point", tracing::display(point)), tracing::kv("none", tracing::empty));
  auto const entered = span.enter();
  point.x = 8;
  TRACE_INFO("at {} of {:>6}", tracing::display(point), *text, tracing::kv("ratio", 0.25F), tracing::kv("big", ~0ULL));
  TRACE_VALUES(warn, tracing::kv("e", std::runtime_error("broken")), tracing::kv("p", tracing::display(point)));
  TRACE_INFO("nothing but this");
  span.record(tracing::kv("later", *text));
  {
    TRACE_SPAN(debug, "two", tracing::kv("x", 1), tracing::kv("y", *text));
    TRACE_SPAN(debug, "no fields");
    TRACE_SPAN(debug, ".file", tracing::kv(".file", -3));
  }
  span.in_scope([] {});
  RuntimeCallsite const gone({.kind = Kind::span, .name = "run time " + tag, .target = "t", .fields = {"i"}});
  Value const value = Value::of_i64(-7);
  auto const made = Span::make(gone.callsite(), &value).entered();
  *text = "x";
  point.x = 9;
}

TEST(ChromeStream, WritesTheSameAsIfWrittenThrough) {
  for (auto const style : {ChromeStyle::threaded, ChromeStyle::async}) {
    for (bool const args : {true, false}) {
      for (bool const as_tracing_chrome : {true, false}) {
        std::string texts[2];
        for (bool const at_once : {true, false}) {
          ChromeOptions const options{
              .style = style, .include_args = args, .write_through = at_once, .as_tracing_chrome = as_tracing_chrome};
          texts[at_once] = std::regex_replace(trace_text(options,
                                                         [] {
                                                           for (int i = 0; i < 10; ++i)
                                                             emit_everything(std::to_string(i));
                                                         }),
                                              std::regex(R"x("ts":[0-9.e-]+)x"), "");
        }
        EXPECT_EQ(texts[0], texts[1]) << args << as_tracing_chrome;
        EXPECT_GT(texts[0].size(), 10'000U);
      }
    }
  }
}

// With a function for names, each record is formatted separately.
TEST(ChromeStream, WritesTheSameSpansIfEachIsFormattedSeparately) {
  for (bool const args : {true, false}) {
    for (bool const locations : {true, false}) {
      std::string texts[2];
      for (bool const by_itself : {true, false}) {
        ChromeOptions options{.include_args = args, .include_locations = locations};
        if (by_itself) options.name = [](TextBuffer& out, ChromeSubject const& s) { out.append(s.metadata.name()); };
        std::string const text = trace_text(options, [] {
          for (int i = 0; i < 3; ++i) emit_everything(std::to_string(i));
        });
        std::regex const spans(R"x(\n\{.*"ph":"[BE]".*"ts":)x");
        std::sregex_iterator at(text.begin(), text.end(), spans);
        for (; at != std::sregex_iterator(); ++at) texts[by_itself] += at->str();
      }
      EXPECT_EQ(texts[0], texts[1]) << args << locations;
      EXPECT_GT(texts[0].size(), 2000U);
    }
  }
}

TEST(ChromeStream, MeasuresTimeLikeTheClock) {
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::time_point> before, after;
  auto const records = trace({}, [&] {
    for (int i = 0; i < 30; ++i) {
      before.push_back(Clock::now());
      TRACE_INFO("now");
      after.push_back(Clock::now());
      std::this_thread::sleep_for(std::chrono::microseconds(i * 100));
    }
  });
  ASSERT_EQ(records.size(), before.size());
  auto const us = [](Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); };
  for (std::size_t i = 1; i < records.size(); ++i) {
    double const passed = records[i]["ts"].get<double>() - records[i - 1]["ts"].get<double>();
    EXPECT_GE(passed, us(before[i] - after[i - 1]) - 1);
    EXPECT_LE(passed, us(after[i] - before[i - 1]) + 1);
  }
}

TEST(ChromeStream, LosesNothingBetweenOneFileAndTheNext) {
  for (bool const write_through : {false, true}) {
    std::vector<std::string> texts(10);
    auto [layer, guard] = chrome_layer({.sink = into(texts[0]), .write_through = write_through});
    auto const registry = RegistryBuilder().with(std::move(layer)).build();
    std::atomic<bool> stop{false};
    std::atomic<std::size_t> recorded{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        std::size_t own = 0;
        with_default(registry, [&] {
          for (; !stop; std::this_thread::sleep_for(20us)) {
            for (int i = 0; i < 20; ++i, ++own) TRACE_INFO("event");
          }
        });
        recorded += own;
      });
    }
    for (std::size_t i = 1; i < texts.size(); ++i) {
      std::this_thread::sleep_for(1ms);
      guard.start_new(into(texts[i]));
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(guard.dropped(), 0U);
    guard = {};
    std::size_t written = 0;
    for (std::string const& text : texts) {
      EXPECT_TRUE(Json::accept(text));
      for (std::size_t at = 0; (at = text.find("\"ph\":\"i\"", at)) != text.npos; ++at) ++written;
    }
    EXPECT_EQ(written, recorded) << "write_through: " << write_through;
  }
}

TEST(ChromeStream, BoundsTheMemoryOfWaitingRecordsAndLosesNone) {
  constexpr int kRecords = 20'000;
  std::string const large(1000, 'x');
  std::atomic<std::size_t> bytes{0};
  std::size_t max_waiting = 0;
  std::size_t recorded = 0;
  int count = 0;
  auto [layer, guard] =
      chrome_layer({.sink = make_sink([&](Level, std::string_view text) {
                      bytes += text.size();
                      for (std::size_t at = 0; (at = text.find("\"name\":\"record\"", at)) != text.npos; ++at) ++count;
                      std::this_thread::sleep_for(1ms);  // a slow disk
                    })});
  with_default(RegistryBuilder().with(std::move(layer)).build(), [&] {
    for (int i = 0; i < kRecords; ++i) {
      TRACE_INFO("record", tracing::kv("large", large));
      recorded += large.size();
      max_waiting = std::max(max_waiting, recorded - std::min<std::size_t>(recorded, bytes));
    }
  });
  guard.flush();
  EXPECT_EQ(guard.dropped(), 0U);
  EXPECT_EQ(count, kRecords);
  EXPECT_LT(max_waiting, std::size_t{12} << 20);
}

}}  // namespace tracing
