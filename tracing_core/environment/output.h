// Output: writes text to a standard stream, as it was when the process started, or to a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tracing_core/export/line_framer.h"
#include "tracing_core/model/ids.h"

namespace tracing { inline namespace v1 { namespace environment {

/// Returns a report without its indentation, dashes and line end: `---- a headline ----` becomes `a headline`.
std::string_view without_frame(std::string_view text) noexcept;

/// Has a descriptor of its own, closed on exec, so that a test that redirects its standard error neither sees this text
/// nor loses it. Failures to write never fail or end the program. A forked child writes to its parent's file.
/// Thread-safe.
class Output {
 public:
  /// `outside_tests` replaces %t while no test runs. The text must live as long as the program.
  explicit Output(std::string_view outside_tests) : outside_tests_(outside_tests) {}
  Output(Output const&) = delete;
  Output& operator=(Output const&) = delete;

  /// Opens "stderr", "stdout" or a file, to which it appends. %p in the path is the process, %t the running test. If
  /// the file cannot be opened, reports it and continues on the standard error. `is_json`: the records are JSON.
  /// `is_json_stream`: everything else that is written to a standard stream is JSON, too, unless the stream is a
  /// terminal. Called before other threads exist.
  void open(std::string const& destination, bool is_json = false, bool is_json_stream = false);
  /// Notes that a test begins, or ends if the name is empty. With a %t in the path, continues in another file. Called
  /// by one thread.
  void set_test(std::string_view test);

  /// Returns a text that is not a record in the form in which it must be written. Where every line must be JSON, the
  /// form is one line {"kind":...,"test":...,"thread":...,"text":...}, without "test" if `test` is empty and without
  /// "thread" if `track` is null. Elsewhere it is the text alone; a `report` loses its control characters, since it may
  /// have values of variables. `kind` is a word.
  std::string note(std::string_view kind, std::string_view test, std::string_view text,
                   Track const* track = nullptr) const;
  /// Writes a note without a test.
  void write_note(std::string_view kind, std::string_view text) { write(note(kind, {}, text)); }
  /// Returns true if a table must be written as JSON objects, like the records around it.
  bool writes_tables_as_json() const noexcept { return is_json_file() || (has_json_records_ && !is_terminal()); }
  /// Returns true if every line must be JSON.
  bool is_json_file() const noexcept { return is_json_file_.load(std::memory_order_relaxed); }

  /// Writes lines with one write(2), or more if the system takes only a part. Drops the lines if nothing is open.
  /// Reports the first failure on the standard error.
  void write(std::string_view lines) noexcept;
  /// As write(), for the handler of a fatal signal: waits for no other thread, and reports nothing. Async-signal-safe.
  void write_dying(std::string_view lines) noexcept { (void)write_lines(lines, internal::Turns::skip); }
  /// Returns how often something was written.
  std::uint64_t writes() const noexcept { return writes_.load(std::memory_order_relaxed); }
  /// Counts what others wrote to the same stream.
  void count_write() noexcept { writes_.fetch_add(1, std::memory_order_relaxed); }
  /// Reports on the standard error how many lines are missing in the files, if any are. Called when the program ends.
  void report_missing() noexcept;

  /// Returns true in a process that was forked since open().
  bool is_in_forked_child() const noexcept;
  bool is_terminal() const noexcept;
  /// Returns true if TRACE_OUTPUT named a file, and not a standard stream.
  bool is_file() const noexcept { return !path_.empty(); }
  /// Returns the descriptor for reports of failures. If text goes to a file, it is the standard error. Negative if the
  /// program closed it.
  int error_fd() const noexcept;
  std::string_view outside_tests() const noexcept { return outside_tests_; }
  int descriptor() const noexcept { return descriptor_.load(std::memory_order_relaxed); }

 private:
  void open_path(std::string_view test);
  void use(int descriptor) noexcept;
  int write_lines(std::string_view lines, internal::Turns turns) noexcept;
  void report_once(int error) noexcept;

  std::string_view const outside_tests_;
  std::string path_;  // a file's path with %p and %t; empty for standard streams
  std::atomic<int> descriptor_{-1};
  std::atomic<std::uint64_t> writes_{0};
  bool blocks_signals_ = true;
  internal::LineFramer lines_;
  bool changes_with_tests_ = false;
  std::atomic<bool> is_json_file_{false};
  bool has_json_records_ = false;
  unsigned fork_count_ = 0;  // value at open()
  int standard_error_ = -1;  // a duplicate, if text goes to a file
  std::uint64_t standard_error_identity_ = 0;
  std::atomic<bool> reported_{false};
};

}}}  // namespace tracing::v1::environment
