// LineFile: the file of a variable, written line by line.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tracing_core/environment/file_names.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/export/fd_sink.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace environment {

/// Appends to the file at a path that may contain %p and %t. The first line opens the file; with %t, each test has its
/// own file. Reports to `output` once if a file cannot be opened. A forked child writes nothing. Before each write, a
/// system call checks that the descriptor is still the file. Thread-safe.
class LineFile final : public LineSink {
 public:
  /// `end_of_broken`, a string literal, ends an incomplete line. With `test_is_root`, lines are folded stacks, to which
  /// the test is added as the outermost frame. A file that was last written before `run_began` begins empty.
  LineFile(std::string variable, std::string path, Output& output, std::string_view end_of_broken = "\n",
           bool test_is_root = false, std::optional<Instant> run_began = {})
      : variable_(std::move(variable)),
        path_(std::move(path)),
        output_(output),
        end_of_broken_(end_of_broken),
        test_is_root_(test_is_root),
        run_began_(run_began) {}

  /// Opens the file now. Returns false if that fails.
  bool open() noexcept;
  void write(Level level, std::string_view text) noexcept override;
  /// Sends later lines to the file of `test`; an empty name means no test.
  void set_test(std::string_view test);
  /// Reports how many lines are missing: `dropped`, and the number of lines that could not be written.
  void report_missing(std::uint64_t dropped = 0);

 private:
  bool is_open() noexcept TRACING_REQUIRES(mutex_);
  std::string_view test() const noexcept TRACING_REQUIRES(mutex_) {
    return test_.empty() ? output_.outside_tests() : test_;
  }

  std::string const variable_;
  std::string const path_;
  Output& output_;
  std::string_view const end_of_broken_;
  bool const test_is_root_;
  std::optional<Instant> const run_began_;
  Mutex mutex_;
  std::shared_ptr<FdSink> file_ TRACING_GUARDED_BY(mutex_);
  std::uint64_t missing_ TRACING_GUARDED_BY(mutex_) = 0;  // lines missing in files that were closed
  bool failed_ TRACING_GUARDED_BY(mutex_) = false;
  bool reported_ TRACING_GUARDED_BY(mutex_) = false;
  std::string test_ TRACING_GUARDED_BY(mutex_);
};

}}}  // namespace tracing::v1::environment
