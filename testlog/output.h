// Declares Output, where our text goes: the standard error that the process was started with, or a file.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace testlog::inline v1 {

/// A descriptor of our own, closed on exec, so that a test that redirects its standard error neither sees our text nor loses
/// it. Thread-safe; write() is async-signal-safe.
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

  /// Writes a line or block with one write(2), going on where that was cut short. Drops it where nothing is open.
  void write(std::string_view block) const noexcept;
  bool is_terminal() const noexcept;
  int descriptor() const noexcept { return descriptor_.load(std::memory_order_relaxed); }

 private:
  void open_path(std::string_view test);

  std::string path_;  // where it depends on the test
  std::atomic<int> descriptor_{-1};
};

}  // namespace testlog::inline v1
