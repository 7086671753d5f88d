// PerfOutputs: the tables and files of TRACE_PERF, TRACE_PERF_JSON and TRACE_PERF_PROM.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "testlog/environment.h"
#include "testlog/line_file.h"
#include "testlog/output.h"
#include "tracing_core/perf/perf_layer.h"

namespace testlog::inline v1 {

/// Sums up perf spans for the run and for each test, prints tables and writes files. Never destroyed. A forked child
/// writes nothing. Single-thread, except for the layer.
class PerfOutputs {
 public:
  /// Without `files`, as in the child of a death test, no file is written. Errors are written to `output`.
  PerfOutputs(PerfSettings const& settings, Output& output, bool files);
  PerfOutputs(PerfOutputs const&) = delete;
  PerfOutputs& operator=(PerfOutputs const&) = delete;

  /// The layer and its filter, which the caller moves out once.
  tracing::PerfLayer& layer() noexcept { return layer_; }

  void begin_test(std::string const& name);
  void end_test();
  /// The perf spans that ended since the running test began.
  tracing::PerfSummary of_test() const { return layer_.statistics->summary().since(at_begin_); }
  /// Prints the table of the running test if TRACE_PERF asks for tables.
  void print_test();
  /// Prints the table of the run likewise, unless it would repeat the table of a single test.
  void print_run();
  /// Reports that perf spans ran and the directives of TRACE_PERF selected none of them. Directives with targets or
  /// spans may be meant for tests that were filtered out, so they are only reported if all tests ran.
  void report_if_none_was_selected(bool ran_all);
  /// Writes the sums of the run into the files. Does nothing the second time.
  void finish();

 private:
  void print(std::string_view headline, tracing::PerfSummary const& summary);
  void write_files(tracing::PerfSummary const& summary, std::string_view test, bool per_test);
  void write_prometheus(tracing::PerfSummary const& summary, std::string_view test);

  PerfSettings const& settings_;
  Output& output_;
  bool const files_;
  bool finished_ = false;
  bool prometheus_failed_ = false;  // and was reported
  std::shared_ptr<LineFile> json_;  // null if there is no TRACE_PERF_JSON
  tracing::PerfLayer layer_;
  tracing::PerfSummary at_begin_;  // the run's sums when the running test began
  std::string test_;               // empty if none runs
  tracing::PerfSummary printed_;   // by the last print_test()
};

}  // namespace testlog::inline v1
