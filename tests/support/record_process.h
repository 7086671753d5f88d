// Declares record_process(), which makes recordings of processes that ran elsewhere and at other times.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/record/recording.h"
#include "tracing_core/record/ring/chunk_writer.h"
#include "tracing_core/record/ring/mark_site.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/span_clock.h"

namespace tracing_test {

// What a process says about itself, and the test that it ran.
struct RecordedProcess {
  std::string host{}, boot{}, run{}, traceparent{};
  std::uint64_t pid = 1;
  std::string test{};                  // empty: a program that runs no tests
  std::string result = "passed";       // empty: the test did not end
  std::int64_t begin = 0, end = 0;     // in ms since kStart, by the clock of the host
  std::function<void()> body = [] {};  // what it records at its beginning
};

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kStart = 1'767'916'569'000'000'000;

// Writes the recording of a process to `path`. Returns the path.
inline std::string record_process(std::string const& path, RecordedProcess const& process) {
  using tracing::Value;
  using tracing::internal::MarkSite;
  static MarkSite const started("process", {"host", "boot", "command", "run", "traceparent"}),
      begin("test_begin", {"test"}), end("test_end", {"test", "result", "duration_ms"});
  tracing::support::simulate_time(static_cast<std::uint64_t>(kStart + process.begin * kMs));
  std::error_code error;
  auto region = tracing::internal::Region::make_file(path, 1 << 20, error);
  EXPECT_FALSE(error) << error.message();
  region->header().process = process.pid;
  auto const store = std::make_shared<tracing::internal::RecordStore>(std::move(region));
  tracing::internal::ChunkWriter marks;
  auto const describe = [](tracing::internal::ChunkWriter& writer) { writer.describe_thread("testlog"); };
  auto const mark = [&](MarkSite const& site, std::vector<std::string> const& texts) {
    std::vector<Value> values;
    for (std::string const& text : texts) values.push_back(text.empty() ? Value() : Value::of_text(text));
    marks.write({.type = tracing::internal::RecordType::mark,
                 .metadata = &site.metadata(),
                 .values = values.data(),
                 .flags = static_cast<std::uint8_t>(tracing::Parent::Kind::root)},
                describe);
  };
  marks.start(store->parts(), tracing::internal::kMarksTrack, static_cast<std::int64_t>(process.pid), describe);
  mark(started, {process.host, process.boot, process.test.empty() ? "./program" : "./lib_test", process.run,
                 process.traceparent});
  store->set_tag(process.test.empty() ? 0 : 1);
  if (!process.test.empty()) mark(begin, {process.test});
  tracing::with_default(
      tracing::RegistryBuilder().with(std::make_unique<tracing::internal::RecordLayer>(store)).build(), process.body);
  tracing::support::simulate_time(static_cast<std::uint64_t>(kStart + process.end * kMs));
  if (!process.test.empty() && !process.result.empty())
    mark(end, {process.test, process.result, std::to_string(process.end - process.begin)});
  tracing::support::simulate_time(0);
  return path;
}

// Returns the TRACEPARENT that the process at `path` passes on in the span of this name.
inline std::string traceparent_in(std::string const& path, RecordedProcess const& process, std::string const& span) {
  std::string error;
  auto const recording = tracing::recording::Recording::read_file(path, error);
  EXPECT_NE(recording, nullptr) << error;
  tracing::environment::TraceIds const ids({process.pid, recording->start().ns, process.run,
                                            process.run.empty() ? std::string() : process.host, process.traceparent});
  std::string text;
  recording->for_each([&](tracing::recording::Entry const& entry) {
    if (begins_span(entry.type) && entry.metadata->name() == span)
      text = tracing::environment::TraceParent{ids.trace_of(entry.tag), ids.span(entry.span)}.text();
  });
  EXPECT_NE(text, "") << "no span " << span;
  return text;
}

}  // namespace tracing_test
