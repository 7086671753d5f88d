// EqualLines: leaves equal lines out of what is printed while tests run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "testlog/environment.h"
#include "tracing_core/format/timer.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/model/text_buffer.h"

namespace testlog { inline namespace v1 {

/// Lines are equal if they come from one statement, follow each other on a thread, and differ only in their time. Keeps
/// the first few of them. Prints how many were left out before the thread's next different line, at a failure, and when
/// a test, the thread or the process ends, but not after SIGKILL and _exit(). Thread-safe; keeps all lines in a forked
/// child. One per process. Takes two kilobytes for each thread that prints, and no lock while all lines are kept.
class EqualLines {
 public:
  /// Keeps `limit` equal lines in a row. `line_end` is the text after each line.
  EqualLines(Output& output, std::uint64_t limit, std::string_view line_end) noexcept;
  EqualLines(EqualLines const&) = delete;
  EqualLines& operator=(EqualLines const&) = delete;

  /// Returns a timer that prints what `timer` prints and notes where; null if `timer` is null.
  static std::shared_ptr<tracing::Timer const> observed(std::shared_ptr<tracing::Timer const> timer);
  /// Called before the calling thread makes a line with such a timer.
  static void begin_line() noexcept;
  /// Returns true if the line that `statement` has just added to the end of `out` is kept. The line begins at `begin`
  /// with a label that ends at `label_end`.
  bool keeps(tracing::Metadata const& statement, tracing::TextBuffer const& out, std::size_t begin,
             std::size_t label_end) noexcept;

  /// Prints how many lines of each thread were left out. The next line of each thread then equals no earlier line.
  void finish() noexcept;
  /// Prints the numbers of finish() in the handler of a fatal signal. Async-signal-safe.
  void finish_dying() noexcept;

 private:
  struct Run;
  struct AtThreadEnd;

  Run* take_run() noexcept;
  Run* run_of_this_thread() noexcept;
  void leave_out(Run& run, tracing::Metadata const& statement, std::string_view label) noexcept;
  void print(Run& run) noexcept;

  Output& output_;
  std::uint64_t const limit_;
  std::string_view const line_end_;
  unsigned const forks_when_made_;
  std::atomic<unsigned> round_{0};  // finish() ends it
  std::atomic<Run*> first_{nullptr};
};

}}  // namespace testlog::v1
