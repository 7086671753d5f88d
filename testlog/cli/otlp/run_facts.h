// RunFacts: what the marks of a recording say about its process, its tests and its job in CI.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "testlog/cli/otlp/otlp_model.h"
#include "testlog/summary/run_summary.h"
#include "tracing_core/environment/trace_context.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli::otlp {

struct Failure {
  Instant time{};
  std::string type{};  ///< `assertion`, or a signal such as `SIGSEGV`
  std::string message{};
  std::string file{};
  std::int64_t line = 0;
};

struct TestFacts {
  summary::TestOutcome outcome{};
  std::string file{};  ///< of the test
  std::int64_t line = 0;
  Instant begin{}, end{};
  std::vector<Failure> failures{};  ///< the first kMaxFailures
  std::uint32_t dropped_failures = 0;
  static constexpr std::size_t kMaxFailures = 128;
};

struct RunFacts {
  std::string path{};     ///< of the recording
  std::string program{};  ///< its name, without its folder
  std::uint64_t process = 0;
  std::string host{}, boot{}, directory{}, command{}, tracestate{};
  std::string ci_service{}, ci_revision{}, ci_url{}, ci_job{}, ci_run{}, ci_branch{};
  tracing::environment::TraceIdentity identity{};
  Instant begin{}, end{};
  std::map<std::uint32_t, TestFacts> tests{};  ///< by tag; 0: what failed outside of tests
};

/// Reads the recording twice.
RunFacts facts_of(tracing::recording::Recording& recording, std::string const& path);

/// Returns what spans and log records of the process have in common. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES,
/// as `get` returns them, win over the recording; what is wrong with them is appended to `reports`.
Resource resource_of(RunFacts const& facts, char const* (*get)(char const* name), std::string& reports);

}  // namespace testlog::cli::otlp
