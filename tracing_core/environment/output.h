// Output: where text goes, either the standard error with which the process was started or a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/export/line_framer.h"
#include "tracing_core/model/ids.h"

namespace tracing::inline v1::internal {

/// A report without its indentation, dashes and line end: `---- a headline ----` becomes `a headline`.
std::string_view without_frame(std::string_view text) noexcept;

/// A descriptor of its own, closed on exec, so that a test that redirects its standard error neither sees this text nor
/// loses it. Failures to write never fail or end the program. A forked child writes to its parent's file. Thread-safe.
class Output {
 public:
  /// `outside_tests` replaces %t while no test runs. It must live as long as the program.
  explicit Output(std::string_view outside_tests) : outside_tests_(outside_tests) {}
  Output(Output const&) = delete;
  Output& operator=(Output const&) = delete;

  /// Opens "stderr", "stdout" or a file, which is appended to; %p in its path is the process, %t the running test. If
  /// the file cannot be opened, reports it and continues on the standard error. `is_json`: the records are JSON. Called
  /// before there are other threads.
  void open(std::string const& destination, bool is_json = false);
  /// A test begins, or ends if the name is empty: with a %t in the path, continues in another file. Called by one
  /// thread.
  void set_test(std::string_view test);

  /// Text that is no record, as it is to be written: in a file of JSON records {"kind":...,"test":...,"thread":...,
  /// "text":...} on one line, without "test" if that is empty and without "thread" if `track` is null; elsewhere the text
  /// alone, of a `report` without control characters, since it may have values of variables. `kind` is a word.
  std::string note(std::string_view kind, std::string_view test, std::string_view text,
                   Track const* track = nullptr) const;
  /// Writes a note without a test.
  void write_note(std::string_view kind, std::string_view text) { write(note(kind, {}, text)); }
  /// Whether every line must be JSON.
  bool is_json_file() const noexcept { return is_json_file_.load(std::memory_order_relaxed); }

  /// Writes lines with one write(2), or more if the system takes only a part. Drops them if nothing is open. Reports
  /// the first failure on the standard error.
  void write(std::string_view lines) noexcept;
  /// The same for the handler of a fatal signal: waits for no other thread, and reports nothing. Async-signal-safe.
  void write_dying(std::string_view lines) noexcept { (void)write_lines(lines, Turns::skip); }
  /// Reports on the standard error how many lines are missing in the files, if any. Called when the program ends.
  void report_missing() noexcept;

  /// True in a process that was forked since open().
  bool is_in_forked_child() const noexcept;
  bool is_terminal() const noexcept;
  /// The descriptor for reports of failures: the standard error even if text goes to a file.
  /// Negative if the program closed it.
  int error_fd() const noexcept;
  std::string_view outside_tests() const noexcept { return outside_tests_; }
  int descriptor() const noexcept { return descriptor_.load(std::memory_order_relaxed); }

 private:
  void open_path(std::string_view test);
  void use(int descriptor) noexcept;
  int write_lines(std::string_view lines, Turns turns) noexcept;
  void report_once(int error) noexcept;

  std::string_view const outside_tests_;
  std::string path_;  // of a file, with %p and %t; empty for the standard streams
  std::atomic<int> descriptor_{-1};
  bool blocks_signals_ = true;
  LineFramer lines_;
  bool changes_with_tests_ = false;
  std::atomic<bool> is_json_file_{false};
  unsigned fork_count_ = 0;  // when it was opened
  int standard_error_ = -1;  // a duplicate, if text goes to a file
  std::uint64_t standard_error_identity_ = 0;
  std::atomic<bool> reported_{false};
};

}  // namespace tracing::inline v1::internal
