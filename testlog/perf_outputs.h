// Declares PerfOutputs, what TRACE_PERF and the variables that begin like it ask for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "testlog/environment.h"
#include "testlog/output.h"
#include "tracing_core/perf/perf_layer.h"

namespace testlog::inline v1 {

/// Sums perf spans up, of the run and of each test, and prints and writes the sums. Never destroyed. A forked child writes
/// nothing. Single-thread, but for the layer.
class PerfOutputs {
 public:
  /// What is wrong with directives and paths is added to `reports`; what goes wrong later is written to `output`. Without
  /// `files` none is written: in the child of a death test.
  PerfOutputs(PerfSettings const& settings, Output& output, bool files, std::string& reports);
  PerfOutputs(PerfOutputs const&) = delete;
  PerfOutputs& operator=(PerfOutputs const&) = delete;
  ~PerfOutputs();

  /// The layer and its filter, to be taken once.
  tracing::PerfLayer& layer() noexcept { return layer_; }

  void begin_test(std::string const& name);
  void end_test();
  /// What came since the running test began.
  tracing::PerfSummary of_test() const { return layer_.statistics->summary().since(at_begin_); }
  /// Prints the table of the running test, where TRACE_PERF asks for one.
  void print_test();
  /// Prints the table of the whole run likewise, unless it is that of the only test, which was printed.
  void print_run();
  /// Says that perf spans ran, and the directives of TRACE_PERF selected none of them. Directives about targets and spans may
  /// be meant for other tests than these: of those only where the run is `whole`.
  void tell_if_none_was_selected(bool whole);
  /// Writes what the files of the run still lack. Once.
  void finish();

 private:
  class LineFile;

  bool is_elsewhere() const noexcept;
  void print(std::string_view headline, tracing::PerfSummary const& summary);
  void write_files(tracing::PerfSummary const& summary, std::string_view test, bool with_tests);
  void write_prometheus(tracing::PerfSummary const& summary, std::string_view test);

  PerfSettings const& settings_;
  Output& output_;
  bool const files_;
  unsigned const forks_when_made_;
  bool finished_ = false;
  bool prometheus_failed_ = false;  // which was told
  std::shared_ptr<LineFile> json_;  // null where none was asked for
  tracing::PerfLayer layer_;
  tracing::PerfSummary at_begin_;  // of the running test
  std::string test_;               // empty: none runs
  tracing::PerfSummary printed_;   // by print_test()
};

}  // namespace testlog::inline v1
