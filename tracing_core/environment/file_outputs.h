// FileOutputs: the files of TRACE_CHROME and TRACE_FLAME.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/environment/env_options.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 { namespace environment {

/// Each variable makes one file or, if its path names a folder or contains %t, a file for each test that records
/// something and another for records of no test, such as late records. A forked child writes nothing. Must outlive the
/// layers. Failures are reported to `output`.
class FileOutputs {
 public:
  /// Returns true if a record that is made now on this thread, inside this span, belongs to the running test.
  /// Thread-safe.
  using IsOfRunningTest = std::function<bool(SpanRef)>;

  /// Without `is_of_running_test`, no record belongs to a test. Replaces files of folded stacks that were last written
  /// before `run_began`; without `run_began`, appends to all of them.
  FileOutputs(EnvOptions const& options, Output& output, IsOfRunningTest is_of_running_test = {},
              std::optional<Instant> run_began = {});
  FileOutputs(FileOutputs const&) = delete;
  FileOutputs& operator=(FileOutputs const&) = delete;
  ~FileOutputs();

  /// Returns the layers that write the files. May be called once.
  std::vector<std::unique_ptr<Layer>> take_layers();

  /// `name` must live as long as the program.
  void begin_test(std::string const& name);
  void end_test();
  /// Writes all records so far.
  void flush();
  /// Completes the files. Later records are dropped or, if the format allows it, appended.
  void finish();
  /// For the handler of a fatal signal: waits up to 100 ms for threads that are writing. Async-signal-safe.
  void wait_for_writers() const noexcept;

 private:
  class Series;
  class ChromeSeries;
  class FlameSeries;
  class ByTest;

  template <class S, class... Options>
  void add(char const* variable, std::string path, char const* suffix, bool separates_tests, Options const&... options);

  Output& output_;
  IsOfRunningTest const is_of_running_test_;
  std::vector<std::unique_ptr<Series>> of_tests_;
  std::vector<std::unique_ptr<Series>> outside_;  // for the records of no test, or for all records
  std::vector<std::unique_ptr<Layer>> layers_;
};

}}}  // namespace tracing::v1::environment
