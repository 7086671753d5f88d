// Declares Output, where our text goes: the standard error that the process was started with, or a file.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "tracing_core/export/write_all.h"

namespace testlog::inline v1 {

/// A descriptor of our own, closed on exec, so that a test that redirects its standard error neither sees our text nor loses
/// it. What cannot be written never fails or ends the program. Thread-safe.
class Output {
 public:
  Output() = default;
  Output(Output const&) = delete;
  Output& operator=(Output const&) = delete;

  /// Opens "stderr", "stdout" or a file, which is appended to; %p in its path is the process, %t the running test. Where it
  /// cannot be opened, says so on the standard error and goes on there.
  void open(std::string const& destination);
  /// A test begins, or none runs: files named by %t change. `/` in the name becomes `_`.
  void set_test(std::string_view test);

  /// Writes a line or block with one write(2), going on where that was cut short. Drops it where nothing is open. The first
  /// block that a file does not take is told on the standard error.
  void write(std::string_view block) noexcept;
  /// As write(), for the handler of a fatal signal: tells nobody. Async-signal-safe.
  void write_dying(std::string_view block) noexcept { write_out(block); }
  bool is_terminal() const noexcept;
  /// Where to tell what cannot be written: the standard error also where text goes to a file.
  int complaints() const noexcept { return standard_error_ >= 0 ? standard_error_ : descriptor(); }
  int descriptor() const noexcept { return descriptor_.load(std::memory_order_relaxed); }

 private:
  void open_path(std::string_view test);
  void use(int descriptor) noexcept;
  int write_out(std::string_view block) noexcept;
  void tell_once(int error) noexcept;

  std::string path_;  // of a file, with %p and %t
  std::atomic<int> descriptor_{-1};
  std::atomic<tracing::internal::WriteAll*> write_all_{nullptr};  // by what the descriptor is
  bool changes_with_tests_ = false;
  int standard_error_ = -1;  // a duplicate, where text goes to a file
  std::atomic<bool> told_{false};
};

}  // namespace testlog::inline v1
