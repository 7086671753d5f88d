// Declares NonBlockingSink, which lets a thread of its own write the lines, and the guard that has them all written.
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

/// Appends `tracing: 7 lines dropped, more than the writing thread's queue holds` and a line end.
void append_dropped_lines(TextBuffer& out, std::uint64_t count) noexcept;

struct NonBlockingOptions {
  /// Lines that may wait. They take memory only while they wait, and a few spare blocks of 64 KiB after that.
  std::size_t buffered_lines = 128'000;
  /// Bytes that may wait, the lines' and 24 for each. A longer line is taken where no other waits.
  std::size_t buffered_bytes = std::size_t{64} << 20;
  /// Where the queue is full, a line is dropped and counted. Off: the thread waits until there is room, for as long as that
  /// takes, and nothing is dropped.
  bool lossy = true;
  /// What debuggers and `top` show; the system takes 15 bytes.
  std::string thread_name = "tracing-writer";
  /// What is printed, as a warning, in place of `count` lines that were dropped: JSON wants another text. Null: nothing.
  void (*append_dropped)(TextBuffer& out, std::uint64_t count) noexcept = append_dropped_lines;
};

namespace internal {
class LineQueue;
}

/// Has the lines written while it lives; when it is destroyed, all that wait are written, the sink behind is flushed and the
/// thread has ended. Lines that come later are written directly. Keep it in main(): a process that ends without destroying
/// it, by a signal or by _exit(), takes the lines with it that still wait. Must not be destroyed by the sink behind.
class [[nodiscard]] WorkerGuard {
 public:
  WorkerGuard() noexcept = default;
  WorkerGuard(WorkerGuard&&) noexcept = default;
  WorkerGuard& operator=(WorkerGuard&& other) noexcept;
  ~WorkerGuard();

 private:
  friend class NonBlockingSink;
  explicit WorkerGuard(std::shared_ptr<internal::LineQueue> queue) noexcept : queue_(std::move(queue)) {}

  std::shared_ptr<internal::LineQueue> queue_;
};

/// Puts lines into a bounded queue, from which a thread of its own gives them one by one to the sink behind: the traced
/// thread copies its line under a short lock and goes on, however slow the file or the terminal is. Lines keep their order.
///
/// Nothing is lost without being told: lines that the queue had no room for are counted, and said in the output each time
/// the queue has run empty and when it is flushed. Records that the sink behind emits while it writes are dropped.
///
/// In a forked child there is no such thread. There the lines that waited are the parent's, and new ones are written
/// directly where the sink behind is a LineSink; spdlog's own sinks may be locked for ever then, so lines to them are dropped
/// and counted. A sink of make_sink() should hold no lock while it writes in a program that forks.
class NonBlockingSink final : public LineSink {
 public:
  /// The sink, and the guard of its thread. `behind` is any sink of ours or of spdlog's; those get the level, the text, the
  /// time and the thread, but neither target nor place. A null one gives a null sink. Where no thread can be made, every line
  /// is written directly.
  static std::pair<std::shared_ptr<NonBlockingSink>, WorkerGuard> make(SinkPtr behind, NonBlockingOptions options = {});
  ~NonBlockingSink() override;

  void write(Level level, std::string_view text) noexcept override;
  /// Returns when all lines that came before are given to the sink behind, and that is flushed.
  void flush() noexcept override;

  /// Lines dropped so far, exactly.
  std::uint64_t dropped() const noexcept;

 private:
  explicit NonBlockingSink(std::shared_ptr<internal::LineQueue> queue) noexcept;

  std::shared_ptr<internal::LineQueue> const queue_;
};

/// `auto [sink, guard] = tracing::non_blocking(tracing::FdSink::append_to("app.log", error));`
inline std::pair<std::shared_ptr<NonBlockingSink>, WorkerGuard> non_blocking(SinkPtr behind, NonBlockingOptions options = {}) {
  return NonBlockingSink::make(std::move(behind), std::move(options));
}

}  // namespace tracing::inline v1
