// ProfileOutputs: the files of TRACE_PERFETTO and TRACE_XPLANE.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tracing_core/environment/env_options.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 { namespace environment {

/// Makes files of the process's recording when the process or a test ends. Each file is complete or does not exist. A
/// variable makes one file or, if its path names a folder or contains %t, a file for each test. Failures are reported
/// to `output`. Single-thread.
class ProfileOutputs {
 public:
  static bool are_wanted(EnvOptions const& options) noexcept {
    return !options.perfetto.empty() || !options.xplane.empty();
  }
  ProfileOutputs(EnvOptions const& options, Output& output);

  /// Returns true if a variable makes a file for each test or, without `of_tests`, one file for the process.
  bool has(bool of_tests) const noexcept;
  /// Makes the files for which has(of_tests) asks, each from a source of its own. `test` replaces %t, and times count
  /// from `start`. A forked child writes nothing.
  void write(bool of_tests, std::function<recording::TraceSource()> const& source, std::string const& test,
             Instant start) const;

 private:
  struct File {
    char const* variable;
    std::string path;  // with %p and %t
    bool is_of_tests;
    bool is_xplane;
  };
  void add(char const* variable, std::string path, bool is_xplane);
  void write(File const& file, recording::TraceSource source, std::string const& test, Instant start) const;

  Output& output_;
  std::vector<File> files_;
};

}}}  // namespace tracing::v1::environment
