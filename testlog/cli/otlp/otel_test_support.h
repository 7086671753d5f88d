// What tests of OTLP with programs of others need: packages of npm, and a recording with values of each type.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "testlog/testdata/run.h"
#include "testlog/why/test_recorder_test_support.h"
#include "tracing_core/tracing.h"

namespace testlog::cli::otlp {

/// Returns true if `tools/setup.sh otel` has installed the packages.
inline bool has_packages() { return std::filesystem::is_directory(TESTLOG_OTEL); }
inline constexpr char kNoPackages[] = "chdb and @opentelemetry/otlp-transformer are missing (tools/setup.sh otel)";

/// Runs a script of testdata/ that uses the packages. Returns what it prints.
inline std::string run_script(std::string const& name, std::vector<std::string> const& arguments) {
  std::vector<std::string> words{"/usr/bin/env", "node", TESTLOG_SOURCE_DIR "/testlog/testdata/" + name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  testdata::Outcome outcome = testdata::run(words, {{"NODE_PATH", TESTLOG_OTEL "/node_modules"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return std::move(outcome.out);
}

/// Records a test that passes and one that fails: values of each type, an error with a cause, links, two threads.
inline void record_typed(std::string const& path) {
  using tracing::kv;
  why::TestRecorder recorder(path);
  recorder.run("Pool.Grows", [&recorder] {
    auto const launch = TRACE_MAKE_SPAN(info, "launch", kv("text", "say \"hi\" \\ é ☃ \n"), kv("empty", ""));
    recorder
        .thread("worker",
                [&launch] {
                  auto const kernel =
                      TRACE_MAKE_SPAN(debug, "kernel", kv("big", (std::uint64_t{1} << 53) + 1),
                                      kv("huge", std::numeric_limits<std::uint64_t>::max()),
                                      kv("least", std::numeric_limits<std::int64_t>::min()), kv("negative", -7));
                  kernel.follows_from(launch);
                  kernel.in_scope(
                      [] { TRACE_WARN("moved {} bytes", 64, kv("ratio", 0.1), kv("single", 0.5F), kv("on", true)); });
                })
        .join();
    return "passed";
  });
  recorder.run("Pool.Drains", [&recorder] {
    TRACE_SPAN(info, "drain", kv("off", false), kv("tiny", 5e-324), kv("minus", -1234567.875),
               kv("at", tracing::empty));
    tracing::Span::current().record(kv("at", 42));
    TRACE_ERROR("cannot drain", kv("error", std::make_error_code(std::errc::io_error)));
    recorder.fail("Expected: pool.drain()\nto be true");
    return "failed";
  });
}

}  // namespace testlog::cli::otlp
