// All formats agree about a recording: how often each span was entered, and for how long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/traces/perfetto_reader.h"
#include "tests/traces/traces_test.h"
#include "tests/traces/xplane_reader.h"
#include "tracing_core/dispatch/thread_name.h"
#include "tracing_core/tracing.h"

namespace {

using testing::IsEmpty;

struct Sum {
  int count = 0;
  std::int64_t ns = 0;

  void add(std::int64_t duration) { ++count, ns += duration; }
  friend bool operator==(Sum const&, Sum const&) = default;
  friend void PrintTo(Sum const& sum, std::ostream* out) { *out << sum.count << " in " << sum.ns << " ns"; }
};
using Sums = std::map<std::string, Sum>;  // keyed by `row: name`

void work(int depth) {
  TRACE_SPAN(info, "work", depth);
  if (depth > 0) work(depth - 1);
  { TRACE_SPAN(debug, "leaf"); }
  TRACE_INFO("at {}", depth);
  auto const held = TRACE_MAKE_SPAN(info, "held");
  for (int i = 0; i < depth; ++i) held.in_scope([] { TRACE_SPAN(info, "in held"); });
}

Sums sums_of(testlog_test::PerfettoTrace const& trace) {
  Sums sums;
  for (auto const& [number, row] : trace.rows) {
    for (auto const& slice : row.slices) {
      if (row.kind == "thread")
        sums[row.name + ": " + slice.name].add(static_cast<std::int64_t>(*slice.end - slice.begin));
    }
  }
  return sums;
}

Sums sums_of(testlog_test::XplaneProfile const& profile) {
  Sums sums;
  for (auto const& line : profile.planes.at("/host:CPU")) {
    for (auto const& event : line.events) {
      if (line.name != "held") sums[line.name + ": " + event.name].add(event.duration_ps / 1000);
    }
  }
  return sums;
}

Sums sums_of_chrome(std::string const& text) {
  Sums sums;
  std::map<int, std::string> threads;
  std::map<int, std::vector<std::int64_t>> open;
  for (auto const& one : nlohmann::json::parse(text)) {
    int const tid = one["tid"];
    std::string const name = one["name"];
    auto const ns = one.contains("ts") ? std::llround(one["ts"].get<double>() * 1000) : 0;
    if (name == "thread_name") threads[tid] = one["args"]["name"];
    if (one["ph"] == "B") open[tid].push_back(ns);
    if (one["ph"] == "i") sums[threads[tid] + ": " + name].add(0);
    if (one["ph"] != "E") continue;
    sums[threads[tid] + ": " + name].add(ns - open[tid].back());
    open[tid].pop_back();
  }
  return sums;
}

Sums sums_of_statistics(std::string const& text) {
  Sums sums;
  nlohmann::json const all = nlohmann::json::parse(text);
  for (auto const& group : all["groups"]) {
    for (auto const& span : group["spans"]) {
      std::string const row = group["name"], name = span["name"];
      sums[row + ": " + name.substr(name.rfind(':') + 1)] = {span["calls"], span["total_ns"]};
    }
  }
  return sums;
}

// Sums the times by span, for spans that are not nested in themselves. Stacks do not say how often a span was entered.
std::map<std::string, std::int64_t> times_of_folded(std::string const& text) {
  std::map<std::string, std::int64_t> times;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t const end = line.rfind(' ');
    std::istringstream frames(line.substr(0, end));
    for (std::string frame; std::getline(frames, frame, ';');)
      times[frame.substr(frame.rfind(':') + 1)] += std::stoll(line.substr(end));
  }
  return times;
}

class Formats : public testlog_test::TracesTest {
 protected:
  // Returns the profile of the recording `a.rec`.
  testlog_test::XplaneProfile profile_in_logs() const {
    std::string run_folder;
    for (auto const& entry : std::filesystem::directory_iterator(folder_ / "logs/plugins/profile"))
      run_folder = "logs/plugins/profile/" + entry.path().filename().string();
    return testlog_test::XplaneProfile::read(folder_.read(run_folder + "/a.xplane.pb"));
  }
};

TEST_F(Formats, AgreeOnCountsAndTimes) {
  auto [layer, error] = tracing::record_layer({.path = folder_ / "a.rec"});
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  auto const run = [&registry](std::string const& name) {
    tracing::with_default(registry, [&name] {
      if (!name.empty()) tracing::set_thread_name(name);
      for (int i = 0; i < 20; ++i) work(i % 5);
    });
  };
  std::vector<std::thread> threads;
  for (char const* const name : {"one", "two"}) threads.emplace_back(run, name);
  run({});
  for (std::thread& thread : threads) thread.join();

  auto const trace = testlog_test::PerfettoTrace::read(run_export({folder_ / "a.rec", "--perfetto"}));
  EXPECT_THAT(trace.problems, IsEmpty());
  Sums const sums = sums_of(trace);
  EXPECT_EQ(sums.at("main: work").count, 4 * (1 + 2 + 3 + 4 + 5));
  EXPECT_EQ(sums.at("two: in held").count, 4 * (1 + 3 + 6 + 10));
  EXPECT_GT(sums.at("one: leaf").ns, 0);

  run_export({folder_ / "a.rec", "--xplane", folder_ / "logs"});
  auto const profile = profile_in_logs();
  EXPECT_THAT(profile.problems, IsEmpty());
  EXPECT_EQ(sums_of(profile), sums);
  EXPECT_EQ(sums_of_chrome(run_export({folder_ / "a.rec", "--chrome"})), sums);

  Sums const statistics = sums_of_statistics(run_statistics({folder_ / "a.rec", "--by=thread", "--json"}));
  EXPECT_EQ(statistics.size(), 3u * 4u);
  for (auto const& [span, sum] : statistics) {
    EXPECT_EQ(sum.count, sums.at(span).count) << span;
    bool const is_recursion = span.ends_with(": work");  // its time is the time of the outermost span
    EXPECT_TRUE(is_recursion || sum.ns == sums.at(span).ns) << span;
  }

  auto const folded = times_of_folded(run_export({folder_ / "a.rec", "--folded"}));
  for (char const* const name : {"leaf", "in held"}) {
    std::int64_t total = 0;
    for (char const* const row : {"main: ", "one: ", "two: "}) total += sums.at(std::string(row) + name).ns;
    EXPECT_EQ(folded.at(name), total) << name;
  }
}

TEST_F(Formats, CallAThreadWithoutANameTheSame) {
  auto [layer, error] = tracing::record_layer({.path = folder_ / "a.rec"});
  auto const registry = tracing::RegistryBuilder().with(std::move(layer)).build();
  std::thread([&registry] {
    tracing::set_thread_name("");
    tracing::with_default(registry, [] { work(0); });
  }).join();
  auto const line = nlohmann::json::parse(run_export({folder_ / "a.rec", "--json", "--filter=info"}));
  std::string const name = line["thread"];
  EXPECT_TRUE(name.starts_with("thread ")) << name;
  EXPECT_EQ(testlog_test::PerfettoTrace::read(run_export({folder_ / "a.rec", "--perfetto"})).row(name).kind, "thread");
  EXPECT_EQ(sums_of_chrome(run_export({folder_ / "a.rec", "--chrome"})).at(name + ": work").count, 1);
  run_export({folder_ / "a.rec", "--xplane", folder_ / "logs"});
  EXPECT_EQ(sums_of(profile_in_logs()).at(name + ": work").count, 1);
}

}  // namespace
