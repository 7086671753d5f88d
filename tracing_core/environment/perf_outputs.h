// PerfOutputs: the tables and files of TRACE_PERF, TRACE_PERF_JSON and TRACE_PERF_PROM.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/environment/line_file.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/environment/perf_settings.h"
#include "tracing_core/perf/perf_layer.h"
#include "tracing_core/perf/perf_statistics.h"

namespace tracing { inline namespace v1 { namespace environment {

/// Sums up perf spans for the run and for each test, prints tables and writes files. Has one layer for the spans that
/// TRACE_PERF selects and another for tests that turn perf spans on; never are both on. Never destroyed. A forked child
/// writes nothing. Single-thread, except for the layers.
class PerfOutputs {
 public:
  struct Use {
    bool files;  ///< write files; false in the child of a death test
    bool tests;  ///< this is a test program
    /// Adds members to the JSON object of each span and event, to tell its test; may be empty.
    internal::AppendPerfMembers append_members{};
  };
  /// Errors are written to `output`.
  PerfOutputs(PerfSettings const& settings, Output& output, Use use);
  PerfOutputs(PerfOutputs const&) = delete;
  PerfOutputs& operator=(PerfOutputs const&) = delete;

  /// Returns the layers and their filters. Called once.
  std::vector<PerfLayer> take_layers() noexcept { return std::move(layers_); }

  /// Begins a test. If `all`, all perf spans are on until the test ends.
  void begin_test(std::string const& name, bool all);
  void end_test();
  /// Returns the sums of the perf spans that ended since the running test began.
  PerfSummary of_test() const { return sums_->summary().since(at_begin_); }
  /// Prints the table of the running test if TRACE_PERF asks for tables.
  void print_test();
  /// Prints the table of the run if TRACE_PERF asks for tables, unless it would repeat the table of a single test.
  void print_run();
  /// If the sums are empty, reports that no perf span ran, or that the directives of TRACE_PERF selected no perf span
  /// that ran. Reports directives with targets or spans only if all tests ran or if they nearly match, since they may
  /// be meant for tests that were filtered out.
  void report_if_none_was_measured(bool ran_all);
  /// Writes the sums of the run into the files. Does nothing the second time.
  void finish();

 private:
  void add_layer(PerfOptions options, bool of_tests);
  void turn_all_on(bool on);
  void print(std::string_view headline, PerfSummary const& summary, std::string_view test);
  bool is_per_test(std::string const& path) const;
  void write_files(PerfSummary const& summary, std::string_view test, bool per_test);
  void write_prometheus(PerfSummary const& summary, std::string_view test);

  PerfSettings const& settings_;
  Output& output_;
  bool const files_;
  bool const tests_;
  internal::AppendPerfMembers const append_members_;
  bool finished_ = false;
  bool prometheus_failed_ = false;  // the failure was reported
  std::shared_ptr<LineFile> json_;  // null without TRACE_PERF_JSON
  std::shared_ptr<internal::PerfTable> const sums_ = std::make_shared<internal::PerfTable>();
  std::vector<PerfLayer> layers_;
  std::atomic<bool> all_are_on_{false};  // the running test turned perf spans on
  PerfSummary at_begin_;                 // the run's sums when the running test began
  std::string test_;                     // empty if no test runs
  PerfSummary printed_;                  // the sums that print_test() printed last
};

}}}  // namespace tracing::v1::environment
