// Declares Output, where our text goes: the standard error that the process was started with, or a file.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/export/whole_lines.h"

namespace testlog::inline v1 {

/// A descriptor of our own, closed on exec, so that a test that redirects its standard error neither sees our text nor loses
/// it. What cannot be written never fails or ends the program. Thread-safe.
///
/// A forked child goes on where its parent writes, whole lines, but for a file that is named after the process (%p): it makes
/// its own with its first line.
class Output {
 public:
  Output() = default;
  Output(Output const&) = delete;
  Output& operator=(Output const&) = delete;

  /// Opens "stderr", "stdout" or a file, which is appended to; %p in its path is the process, %t the running test. Where it
  /// cannot be opened, says so on the standard error and goes on there. Called before there are other threads.
  void open(std::string const& destination);
  /// A test begins, or none runs: files named by %t change. `/` in the name becomes `_`. Called by one thread.
  void set_test(std::string_view test);

  /// Writes a line or block with one write(2), going on where that was cut short. Drops it where nothing is open. The first
  /// block that a file does not take is told on the standard error.
  void write(std::string_view block) noexcept;
  /// As write(), for the handler of a fatal signal: tells nobody. Async-signal-safe.
  void write_dying(std::string_view block) noexcept { write_out(block, false); }
  /// Says on the standard error how many lines the files did not take, if any: when the program ends.
  void tell_missing() noexcept;
  bool is_terminal() const noexcept;
  /// Where to tell what cannot be written: the standard error also where text goes to a file.
  int complaints() const noexcept { return standard_error_ >= 0 ? standard_error_ : descriptor(); }
  int descriptor() const noexcept { return descriptor_.load(std::memory_order_relaxed); }

 private:
  void open_path(std::string_view test);
  int open_own() noexcept;
  void leave_parents_file(bool may_tell) noexcept;
  void tell_not_opened(int error) noexcept;
  std::string own_path() const;
  bool is_of_parent() const noexcept;
  void use(int descriptor) noexcept;
  int write_out(std::string_view block, bool may_tell) noexcept;
  void tell_once(int error) noexcept;

  std::string path_;  // of a file, with %p and %t
  std::atomic<int> descriptor_{-1};
  tracing::internal::WriteAll* write_all_ = nullptr;  // by what the descriptor is and may become
  tracing::internal::WholeLines lines_;
  bool changes_with_tests_ = false;
  bool changes_with_processes_ = false;
  std::atomic<unsigned> forks_{0};  // how often the process had been forked when the file was opened
  // Paths in which %t was filled in: that of the file, and the one before, which another thread may be reading.
  std::array<std::string, 2> of_tests_;
  std::atomic<unsigned> of_test_{0};
  int standard_error_ = -1;  // a duplicate, where text goes to a file
  std::atomic<bool> told_{false};
  std::atomic<std::uint64_t> missing_of_parent_{0};
};

}  // namespace testlog::inline v1
