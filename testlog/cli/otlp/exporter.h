// Exporter: makes OTLP's spans and log records of recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "testlog/cli/otlp/otlp_model.h"
#include "testlog/cli/otlp/run_facts.h"
#include "tracing_core/filter/filter.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli::otlp {

/// Receives spans and log records. The resource is the same for all calls between two calls of begin_resource().
class Receiver {
 public:
  Receiver() = default;
  Receiver(Receiver const&) = delete;
  Receiver& operator=(Receiver const&) = delete;
  virtual ~Receiver() = default;

  virtual void begin_resource(Resource const& resource) = 0;
  virtual void add(Span span) = 0;
  virtual void add(LogRecord record) = 0;
};

struct ExporterOptions {
  /// Makes the filter of the records to export; each replay of a recording needs one.
  std::function<std::unique_ptr<tracing::Filter>()> make_filter;
  bool span_events = false;  ///< events are parts of their spans, not log records
  /// What the spans of a test may take in protobuf: Tempo refuses traces of more than 5 MB.
  std::uint64_t max_trace_bytes = 4'000'000;
};

/// Makes the spans of the run, of the tests and of the library, and the log records. Single-thread.
class Exporter {
 public:
  Exporter(ExporterOptions options, Receiver& to) : options_(std::move(options)), to_(to) {}
  Exporter(Exporter const&) = delete;
  Exporter& operator=(Exporter const&) = delete;

  /// Adds a recording. The recordings of the attempts of a test are added in their order. `each` is called once for
  /// each record. Lines about bad variables go to `reports`.
  void add(tracing::recording::Recording& recording, std::string const& path,
           std::function<void(tracing::recording::Entry const&)> const& each, std::string& reports);
  /// Passes on the spans of the runs. Must be called once, after all recordings were added.
  void finish();

 private:
  // A run of tests or, of a process that runs none, the process.
  struct Root {
    Span span{};
    Resource resource{};  // of its first process
    std::int64_t tests = 0, failed = 0;
    std::int64_t dropped_spans = 0, overwritten_records = 0;  // of what is in no test
    std::int64_t flaky = 0;                                   // tests that passed in the end
    std::set<std::string> failing{};                          // tests whose last attempt so far failed
    bool has_failed_outside = false, runs_tests = false;

    bool has_failed() const noexcept { return has_failed_outside || !failing.empty(); }
  };

  Root& root_of(RunFacts const& facts, tracing::environment::TraceIds const& ids, Resource const& resource);

  ExporterOptions options_;
  Receiver& to_;
  std::map<std::uint64_t, Root> roots_;  // by the id of the span
};

}  // namespace testlog::cli::otlp
