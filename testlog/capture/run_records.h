// RunRecords: writes the facts about a run of tests into its recording.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/framework.h"
#include "tracing_core/environment/ci.h"
#include "tracing_core/environment/env_options.h"
#include "tracing_core/record/ring/record_layer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"

namespace testlog { inline namespace v1 {

/// Writes marks into a recording, on a track of their own, so that a recording describes the run without other files:
/// its process, which tests began, how they ended, and their failures, skips and properties. Marks are kept longer than
/// other records. Thread-safe; a forked child writes no marks.
class RunRecords {
 public:
  /// `store` must outlive it.
  explicit RunRecords(tracing::internal::RecordStore const& store);
  RunRecords(RunRecords const&) = delete;
  RunRecords& operator=(RunRecords const&) = delete;

  /// `run` is the id of the run that the process is part of. `attempt` is 1 for the first process of the run with this
  /// recording, 2 for its first repetition; 0: unknown. `environment` has the trace context.
  void begin_process(int argc, char const* const* argv, std::string_view run, int attempt,
                     tracing::EnvOptions const& environment);
  /// Writes what CI says of itself; nothing outside CI.
  void ci(tracing::environment::CiJob const& job) noexcept;
  void begin_repetition(framework::Repetition const& repetition) noexcept;
  void begin_test(framework::Test const& test) noexcept;
  void end_test(std::string_view name, framework::Result const& result) noexcept;
  /// Writes properties. `test` is the test; the suite, for properties of a suite
  /// outside its tests; or empty, for properties outside of suites.
  void properties(std::string_view test, std::vector<framework::Property> const& properties) noexcept;
  /// Writes a failure or a skip. `test` is empty outside any test. `late_from` is empty, or the test whose late work
  /// failed.
  void part(std::string_view test, framework::Part const& part, std::string_view late_from) noexcept;
  /// Writes that the program called exit() while tests ran.
  void exit_of_process(std::string_view test) noexcept;
  /// Writes a fatal signal, in its handler. Async-signal-safe. Writes nothing if another thread is writing.
  void fatal_signal(std::string_view test, std::string_view signal) noexcept;
  /// Writes, for a report, that `test` still runs after `duration_ms`. Async-signal-safe. Writes nothing if another
  /// thread is writing.
  void still_running(std::string_view test, std::uint64_t duration_ms) noexcept;
  /// Writes that the tests have ended.
  void end_run(framework::Totals const& totals) noexcept;

 private:
  template <class... Values>
  void write(tracing::Metadata const& metadata, Values const&... values) noexcept;
  template <class... Values>
  void write_locked(tracing::Metadata const& metadata, Values const&... values) noexcept TRACING_REQUIRES(mutex_);

  unsigned const forks_when_made_;
  tracing::support::Mutex mutex_;
  tracing::internal::ChunkWriter writer_ TRACING_GUARDED_BY(mutex_);
};

/// Returns the command line. Replaces the value of an argument such as `--password=x` if redact() hides fields with
/// that name.
std::string command_line(int argc, char const* const* argv);

}}  // namespace testlog::v1
