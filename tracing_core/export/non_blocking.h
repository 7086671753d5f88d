// NonBlockingSink: a sink whose lines are written by a separate thread; WorkerGuard: ends that thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/writer.h"

namespace tracing { inline namespace v1 {

class TextBuffer;

/// Appends `tracing: 7 lines dropped: the writing thread's queue was full` and a line end.
void append_dropped_lines(TextBuffer& out, std::uint64_t count) noexcept;

struct NonBlockingOptions {
  /// The maximum number of waiting lines. Their memory is kept for later lines until no line has come for 50 ms; then
  /// only four blocks of 64 KiB are kept.
  std::size_t buffered_lines = 128'000;
  /// The maximum number of waiting bytes, where a line counts 24 more than its length. A line that is longer than the
  /// maximum is accepted if no other line waits.
  std::size_t buffered_bytes = std::size_t{64} << 20;
  /// On: a line that finds the queue full is dropped and counted. Off: its thread waits for room, however long that
  /// takes.
  bool lossy = true;
  /// The name in debuggers and `top`; the system keeps 15 bytes.
  std::string thread_name = "tracing-writer";
  /// Appends the text that is printed, at level warn, in place of `count` dropped lines; JSON needs another text. Null:
  /// nothing is printed.
  void (*append_dropped)(TextBuffer& out, std::uint64_t count) noexcept = append_dropped_lines;
};

namespace internal {
class LineQueue;
}

/// Ends the thread of a NonBlockingSink: its destructor writes all waiting lines and flushes the sink. Later lines are
/// written directly. Keep it in main(): a process that ends without destroying it, by a signal or by _exit(), loses the
/// waiting lines. The sink that lines are passed to must not destroy the guard.
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

/// Puts lines into a bounded queue, from which a separate thread passes them to another sink: one by one, or several at
/// once if the sink is an FdSink or another LineSink that takes_joined_lines(). The traced thread only copies its line,
/// under a short lock, and goes on, however slow the file or the terminal is. Lines keep their order.
///
/// Dropped lines are counted, and reported in the output whenever the queue has become empty or is flushed. Records
/// that the other sink emits while it writes are discarded.
///
/// A forked child has no writing thread. It leaves the waiting lines to the parent, and writes its own lines directly
/// if the other sink is a LineSink. If that is a sink of spdlog, which may hold a lock that is never released
/// in the child, it drops and counts them. In a program that forks, the function given to make_sink() should hold no
/// lock while it writes.
class NonBlockingSink final : public LineSink {
 public:
  /// Makes the sink and the guard of its thread. `sink` may be a LineSink or any sink of spdlog; spdlog's sinks get the
  /// level, text, time and thread, but neither target nor location. If `sink` is null, so are the results. If the
  /// thread cannot be started, lines are written directly.
  static std::pair<std::shared_ptr<NonBlockingSink>, WorkerGuard> make(SinkPtr sink, NonBlockingOptions options = {});
  ~NonBlockingSink() override;

  void write(Level level, std::string_view text) noexcept override;
  /// Waits until all earlier lines are written, and the other sink is flushed.
  void flush() noexcept override;

  /// Returns the exact number of lines dropped so far.
  std::uint64_t dropped() const noexcept;

 private:
  explicit NonBlockingSink(std::shared_ptr<internal::LineQueue> queue) noexcept;

  std::shared_ptr<internal::LineQueue> const queue_;
};

/// Does what NonBlockingSink::make() does:
/// `auto [sink, guard] = tracing::non_blocking(tracing::FdSink::append_to("app.log", error));`
inline std::pair<std::shared_ptr<NonBlockingSink>, WorkerGuard> non_blocking(SinkPtr sink,
                                                                             NonBlockingOptions options = {}) {
  return NonBlockingSink::make(std::move(sink), std::move(options));
}

}}  // namespace tracing::v1
