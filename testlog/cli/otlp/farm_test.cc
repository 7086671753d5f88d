// A farm: the recordings of eight containers, each with a shard of the tests and a clock of its own, as one trace.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "testlog/cli/command_test_support.h"
#include "tests/support/temporary_folder.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/span_clock.h"
#include "tracing_core/tracing.h"

namespace {

using nlohmann::json;
using testing::SizeIs;
using testlog::testdata::content_of;
using testlog::testdata::Outcome;
using testlog::testdata::run_command;
using tracing::Value;
using tracing::internal::MarkSite;

constexpr int kHosts = 8, kTests = 40;
constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736", kJob[] = "00f067aa0ba902b7";

// A process that ran one test, as ctest starts it.
struct TestProcess {
  std::string host;
  std::string name;
  std::int64_t clock_ns = 0;  // how far the clock of the host is ahead
  std::uint64_t number = 0;   // of the process; containers give equal numbers
  bool passes = true;
};

// Gives the recording of a process the number that the process would have in its container.
void set_number(std::string const& path, std::uint64_t number) {
  constexpr off_t kNumberAt = offsetof(tracing::internal::RegionHeader, process);
  int const file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(pwrite(file, &number, sizeof(number), kNumberAt), static_cast<ssize_t>(sizeof(number)));
  close(file);
}

// Records what the process does: two spans with three events.
void record(std::string const& path, TestProcess const& process) {
  static MarkSite const started("process", {"pid", "host", "command", "run", "traceparent"}),
      begin("test_begin", {"test", "file", "line"}), failure("failure", {"test", "file", "line", "message"}),
      end("test_end", {"test", "result", "duration_ms"});
  static std::int64_t begin_ns = 1'795'820'000'000'000'000;
  begin_ns += 1'000'000;  // one process after the other
  tracing::support::simulate_time(static_cast<std::uint64_t>(begin_ns + process.clock_ns));
  std::error_code error;
  auto region = tracing::internal::Region::make_file(path, 1 << 20, error);
  ASSERT_FALSE(error) << error.message();
  auto const store = std::make_shared<tracing::internal::RecordStore>(std::move(region));
  auto const describe = [](tracing::internal::ChunkWriter& writer) { writer.describe_thread("testlog"); };
  tracing::internal::ChunkWriter marks;
  auto const mark = [&](MarkSite const& site, std::vector<std::string> const& texts) {
    std::vector<Value> values;
    for (std::string const& text : texts) values.push_back(Value::of_text(text));
    marks.write({.type = tracing::internal::RecordType::mark,
                 .metadata = &site.metadata(),
                 .values = values.data(),
                 .flags = static_cast<std::uint8_t>(tracing::Parent::Kind::root)},
                describe);
  };
  marks.start(store->parts(), tracing::internal::kMarksTrack, getpid(), describe);
  // Containers also give equal ids to their ctests.
  mark(started, {"7", process.host, "./pool_test", "9-1234", "00-" + std::string(kTrace) + "-" + kJob + "-01"});
  tracing::with_default(
      tracing::RegistryBuilder().with(std::make_unique<tracing::internal::RecordLayer>(store)).build(), [&] {
        store->set_tag(1);
        mark(begin, {process.name, "pool_test.cc", "7"});
        TRACE_SPAN(info, "request", tracing::kv("host", process.host));
        for (int i = 0; i < 3; ++i) TRACE_INFO("step", i);
        { TRACE_SPAN(info, "load"); }
        if (!process.passes) mark(failure, {process.name, "pool_test.cc", "9", "Failed"});
      });
  mark(end, {process.name, process.passes ? "passed" : "failed", "1"});
  tracing::support::simulate_time(0);
}

struct Exported {
  std::map<std::string, json> spans{};  // by the id
  std::size_t span_count = 0, logs = 0;
  std::int64_t tests = 0, failed = 0, flaky = 0;  // as the spans of the runs say
  std::vector<std::string> spans_of_logs{};
};

json attribute(json const& of, std::string const& key) {
  json const attributes = of.value("attributes", json::array());
  for (json const& one : attributes)
    if (one["key"] == key) return one["value"].begin().value();
  return {};
}

std::int64_t number(json const& of, std::string const& key) {
  json const value = attribute(of, key);
  return value.is_null() ? 0 : std::stoll(value.get<std::string>());
}

class Farm : public testing::Test {
 protected:
  // Makes the recordings: test `i` is in the shard of host `i % kHosts`. Each tenth test fails; those whose numbers end
  // in 3 pass when ctest repeats them.
  void SetUp() override {
    for (int i = 0; i < kTests; ++i) {
      int const host = i % kHosts;
      TestProcess process{.host = "worker-" + std::to_string(host), .name = "Pool.Test" + std::to_string(i)};
      process.clock_ns = (host - 3) * std::int64_t{3'600'000'000'000};
      process.number = static_cast<std::uint64_t>(7 + i / kHosts);
      process.passes = i % 10 != 3 && i % 10 != 7;
      std::string const folder = folder_ / process.host;
      std::filesystem::create_directory(folder);
      std::string const path = folder + "/pool_test." + process.name;
      add(path + (process.passes ? ".rec" : ".20261127-101112-345.attempt-1.rec"), process);
      if (process.passes) continue;
      process.passes = i % 10 == 3;
      process.number += 100;
      add(path + ".rec", process);
    }
  }
  void add(std::string const& path, TestProcess const& process) {
    record(path, process);
    set_number(path, process.number);
    paths_.push_back(path);
  }

  Exported exported(std::vector<std::string> words) const {
    words.insert(words.end(), {"--otlp", folder_ / "spans", "--otlp-logs", folder_ / "logs"});
    Outcome const outcome = run_command("export", words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    Exported all;
    for_each("spans", "resourceSpans", "scopeSpans", "spans", [&all](json const& span) {
      ++all.span_count;
      all.spans[span["spanId"]] = span;
      all.tests += number(span, "testlog.tests");
      all.failed += number(span, "testlog.failed");
      all.flaky += number(span, "testlog.flaky");
    });
    for_each("logs", "resourceLogs", "scopeLogs", "logRecords", [&all](json const& log) {
      ++all.logs;
      all.spans_of_logs.push_back(log["spanId"]);
    });
    return all;
  }

  tracing_test::TemporaryFolder const folder_;
  std::vector<std::string> paths_;

 private:
  template <class F>
  void for_each(char const* file, char const* resources, char const* scopes, char const* items, F f) const {
    std::istringstream from(content_of(folder_ / file));
    for (std::string line; std::getline(from, line);) {
      json const request = json::parse(line);
      for (json const& of_resource : request[resources]) {
        for (json item : of_resource[scopes][0][items]) {
          item["host"] = attribute(of_resource["resource"], "host.name");
          f(item);
        }
      }
    }
  }
};

TEST_F(Farm, HasTheCountsOfTheSingleExports) {
  std::vector<std::string> hosts;
  for (int host = 0; host < kHosts; ++host) hosts.push_back(folder_ / ("worker-" + std::to_string(host)));
  Exported const all = exported(hosts);
  Exported sums;
  for (std::string const& path : paths_) {
    Exported one = exported({path});
    EXPECT_EQ(one.span_count, 5u) << "the run, the test twice, and its two spans";
    sums.span_count += one.span_count;
    sums.logs += one.logs;
    sums.tests += one.tests;
    sums.failed += one.failed;
    sums.spans.merge(one.spans);
  }
  EXPECT_EQ(all.span_count, sums.span_count - paths_.size() + kHosts) << "the tests of a host have one run";
  EXPECT_THAT(all.spans, SizeIs(all.span_count)) << "no id is there twice";
  EXPECT_THAT(sums.spans, SizeIs(all.span_count));
  for (auto const& [id, span] : sums.spans) EXPECT_TRUE(all.spans.contains(id)) << span;
  EXPECT_EQ(all.logs, sums.logs);
  EXPECT_EQ(all.logs, 3 * paths_.size());
  EXPECT_EQ(all.tests, sums.tests);
  EXPECT_EQ(all.tests, static_cast<std::int64_t>(paths_.size())) << "each attempt counts";
  EXPECT_EQ(all.failed, sums.failed);
  EXPECT_EQ(all.failed, 12) << "four tests failed once, four twice";
  EXPECT_EQ(all.flaky, 4);
}

TEST_F(Farm, IsOneTree) {
  Exported const all =
      exported({folder_ / "worker-0", folder_ / "worker-1", folder_ / "worker-2", folder_ / "worker-3",
                folder_ / "worker-4", folder_ / "worker-5", folder_ / "worker-6", folder_ / "worker-7"});
  std::set<std::string> hosts;
  int failed_runs = 0;
  for (auto const& [id, span] : all.spans) {
    SCOPED_TRACE(span.dump());
    if (span["name"] == "test run") {
      EXPECT_EQ(span["traceId"], kTrace);
      EXPECT_EQ(span["parentSpanId"], kJob);
      EXPECT_TRUE(hosts.insert(span["host"]).second);
      failed_runs += attribute(span, "test.suite.run.status") == "failure";
      continue;
    }
    bool const has_parent = span.contains("parentSpanId");
    json const& above = all.spans.at(has_parent ? span["parentSpanId"] : span["links"][0]["spanId"]);
    EXPECT_EQ(above["traceId"], has_parent ? span["traceId"] : json(kTrace));
    EXPECT_EQ(above["host"], span["host"]);
    EXPECT_LE(above["startTimeUnixNano"].get<std::string>(), span["startTimeUnixNano"].get<std::string>());
    EXPECT_GE(above["endTimeUnixNano"].get<std::string>(), span["endTimeUnixNano"].get<std::string>());
    if (span["name"] == "request") {
      EXPECT_EQ(attribute(span, "host"), span["host"]);
    }
  }
  EXPECT_THAT(hosts, SizeIs(kHosts));
  EXPECT_EQ(failed_runs, 4) << "those whose tests failed until the end";
  for (std::string const& id : all.spans_of_logs) EXPECT_TRUE(all.spans.contains(id));
}

}  // namespace
