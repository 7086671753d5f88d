// Declares FileOutputs, the files that TRACE_CHROME and TRACE_FLAME ask for.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "testlog/attribution.h"
#include "testlog/environment.h"
#include "testlog/output.h"
#include "tracing_core/collect/layer.h"

namespace testlog::inline v1 {

/// Each is one file or, where its path names a folder or has a %t in it, one for each test that records something and one for
/// what belongs to none, late records of helper threads among it. Never destroyed, as layers refer to it. A forked child
/// writes nothing.
class FileOutputs {
 public:
  /// Opens what is one file; what is wrong with the paths is added to `reports`, and what goes wrong later written to `output`.
  FileOutputs(Environment const& environment, Attribution& attribution, Output& output, std::string& reports);
  FileOutputs(FileOutputs const&) = delete;
  FileOutputs& operator=(FileOutputs const&) = delete;
  ~FileOutputs();

  /// The layers that write them, to be taken once; null for what was not asked for.
  std::vector<std::unique_ptr<tracing::Layer>> take_layers();

  void begin_test(std::string const& name);
  void end_test();
  /// Everything so far is in the files.
  void flush();
  /// The files are complete. What comes later is left out or, where the format allows it, appended.
  void finish();
  /// For the handler of a fatal signal: gives threads that write a moment, at most 100 ms. Async-signal-safe.
  void wait_for_writers() const noexcept;

 private:
  class Series;
  class ChromeSeries;
  class FlameSeries;
  class ByTest;
  struct Plan;

  template <class S>
  std::string add(char const* variable, std::string const& path, char const* suffix, std::string const& taken,
                  std::string& reports);

  Attribution& attribution_;
  Output& output_;
  std::vector<std::unique_ptr<Series>> of_tests_;
  std::vector<std::unique_ptr<Series>> outside_;  // or where there is one file
  std::vector<std::unique_ptr<tracing::Layer>> layers_;
};

}  // namespace testlog::inline v1
