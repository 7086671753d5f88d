// NonBlockingSink: a sink whose lines are written by a thread of its own, and the guard that ends that thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/writer.h"

namespace tracing::inline v1 {

class TextBuffer;

/// Appends `tracing: 7 lines dropped: the writing thread's queue was full` and a line end.
void append_dropped_lines(TextBuffer& out, std::uint64_t count) noexcept;

struct NonBlockingOptions {
  /// The maximum number of waiting lines. They take memory only while they wait; a few spare blocks of 64 KiB are kept.
  std::size_t buffered_lines = 128'000;
  /// The maximum number of waiting bytes: the lines' and 24 for each. A longer line is accepted if no other waits.
  std::size_t buffered_bytes = std::size_t{64} << 20;
  /// If the queue is full, drop and count the line. Off: the thread waits until there is room, however long that takes.
  bool lossy = true;
  /// The name in debuggers and `top`; the system keeps 15 bytes.
  std::string thread_name = "tracing-writer";
  /// Appends what is printed, at level warn, in place of `count` dropped lines; JSON needs another text. Null: nothing.
  void (*append_dropped)(TextBuffer& out, std::uint64_t count) noexcept = append_dropped_lines;
};

namespace internal {
class LineQueue;
}

/// Ends the thread of a NonBlockingSink: its destructor writes all waiting lines and flushes the sink. Later lines are
/// written directly. Keep it in main(): a process that ends without destroying it, by a signal or by _exit(), loses the
/// waiting lines. The sink must not destroy it.
class [[nodiscard]] WorkerGuard {
 public:
  WorkerGuard() noexcept = default;
  WorkerGuard(WorkerGuard&&) noexcept = default;
  WorkerGuard& operator=(WorkerGuard&&) noexcept = default;

 private:
  friend class NonBlockingSink;
  explicit WorkerGuard(std::shared_ptr<internal::LineQueue> const& queue);

  std::shared_ptr<internal::LineQueue> queue_;  // its deleter ends the thread
};

/// Puts lines into a bounded queue, from which a thread of its own passes them one by one to another sink: the traced
/// thread copies its line under a short lock and goes on, however slow the file or the terminal is. Lines keep their
/// order.
///
/// Dropped lines are counted, and reported in the output whenever the queue has become empty or is flushed. Records
/// that the other sink emits while it writes are discarded.
///
/// A forked child has no such thread. There the waiting lines are the parent's, and new ones are written directly if
/// the other sink is a LineSink; spdlog's own sinks may hold a lock that is never released, so their lines are dropped
/// and counted. A sink of make_sink() should hold no lock while it writes in a program that forks.
class NonBlockingSink final : public LineSink {
 public:
  /// Returns the sink and the guard of its thread. `sink` is any sink of ours or of spdlog; spdlog's get the level,
  /// text, time and thread, but neither target nor location. Returns null for null. If no thread can be started, lines
  /// are written directly.
  static std::pair<std::shared_ptr<NonBlockingSink>, WorkerGuard> make(SinkPtr sink, NonBlockingOptions options = {});
  ~NonBlockingSink() override;

  void write(Level level, std::string_view text) noexcept override;
  /// Returns when all earlier lines are written and the other sink is flushed.
  void flush() noexcept override;

  /// The exact number of lines dropped so far.
  std::uint64_t dropped() const noexcept;

 private:
  explicit NonBlockingSink(std::shared_ptr<internal::LineQueue> queue) noexcept;

  std::shared_ptr<internal::LineQueue> const queue_;
};

/// `auto [sink, guard] = tracing::non_blocking(tracing::FdSink::append_to("app.log", error));`
inline std::pair<std::shared_ptr<NonBlockingSink>, WorkerGuard> non_blocking(SinkPtr sink,
                                                                             NonBlockingOptions options = {}) {
  return NonBlockingSink::make(std::move(sink), std::move(options));
}

}  // namespace tracing::inline v1
