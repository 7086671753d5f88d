// LineQueue: the bounded queue of a NonBlockingSink and the thread that empties it.
#pragma once

#include <limits.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <thread>

#include "tracing_core/export/non_blocking.h"
#include "tracing_core/export/print/worker_state.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/support/fork.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace internal {

// Holds lines until the worker writes them. Lines wait in blocks, each a sequence of (Header, text). The worker takes
// all waiting blocks at once and writes their lines without the lock, so a thread that writes a line waits only while
// other threads copy their lines.
class LineQueue {
 public:
  static std::shared_ptr<LineQueue> make(SinkPtr sink, NonBlockingOptions options);
  LineQueue(LineQueue const&) = delete;
  LineQueue& operator=(LineQueue const&) = delete;

  void write(Level level, std::string_view text) noexcept;
  void flush() noexcept;
  // Writes all lines and ends the worker. Later lines are written directly.
  void finish() noexcept;
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kBlockBytes = 64 * 1024 - 128;
  // Empty blocks stay for later lines, since new memory costs more than copying a line. While the worker is parked,
  // only this many stay.
  static constexpr std::size_t kMaxSpareBlocks = 4;
  // One write(2) of at most this many bytes to a pipe is not mixed with text of other processes.
  static constexpr std::size_t kMaxJoinedBytes = PIPE_BUF;
  // The worker polls so often after the last line before it parks.
  static constexpr std::chrono::milliseconds kPollInterval{1};
  static constexpr int kMaxPolls = 50;

  struct Header {
    std::size_t size;
    std::int64_t time_ns;
    std::int32_t os_thread;
    Level level;
  };
  using Block = InlineTextBuffer<kBlockBytes>;
  // Lines of a block that are written by one call.
  struct Lines {
    Header first;
    std::string_view text;  // valid until the next take_lines()
    std::uint64_t count = 1;
  };

  LineQueue(SinkPtr sink, NonBlockingOptions options);
  ~LineQueue() = default;
  void start() noexcept;
  // A forked child must not use the queue: it has no worker, and another thread of the parent may have been changing
  // the queue.
  bool is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }

  // On the threads that write lines:
  bool wait_for_room(std::size_t bytes) noexcept TRACING_REQUIRES(mutex_);
  bool is_full(std::size_t bytes) const noexcept TRACING_REQUIRES(mutex_);
  bool is_half_full() const noexcept TRACING_REQUIRES(mutex_);
  bool append(Level level, std::string_view text) noexcept TRACING_REQUIRES(mutex_);
  Block* block_with_room(std::size_t bytes) noexcept TRACING_REQUIRES(mutex_);
  // Without the mutex, so that the worker does not wait for it at once.
  void notify_worker() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS { worker_state_.notify(); }
  void count_dropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }
  void write_directly(Level level, std::string_view text) noexcept;
  Header header_of(Level level, std::string_view text) const noexcept;

  // On the worker; the functions that require the lock release it while they write or wait:
  void run() noexcept;
  void write_waiting() noexcept TRACING_REQUIRES(mutex_);
  void write_block(Block const& block) noexcept;
  Lines take_lines(std::string_view& rest) noexcept;
  void drop_spare_blocks(std::size_t kept) noexcept TRACING_REQUIRES(mutex_);
  void report_dropped() noexcept;

  void give(Header const& header, std::string_view text) noexcept;

  SinkPtr const sink_;
  LineSink* const line_sink_;  // sink_ if it is a LineSink; otherwise null
  bool const joins_lines_;
  NonBlockingOptions const options_;
  unsigned const forks_when_made_ = fork_count();
  std::thread worker_;  // changed by start() and finish() alone

  Mutex mutex_;
  CondVar progress_;  // there is room, a flush is done, the worker has ended
  std::list<Block> waiting_ TRACING_GUARDED_BY(mutex_);
  std::list<Block> spare_ TRACING_GUARDED_BY(mutex_);
  std::uint64_t accepted_lines_ TRACING_GUARDED_BY(mutex_) = 0;
  std::uint64_t accepted_bytes_ TRACING_GUARDED_BY(mutex_) = 0;
  std::uint64_t flushes_requested_ TRACING_GUARDED_BY(mutex_) = 0;
  std::uint64_t flushes_done_ TRACING_GUARDED_BY(mutex_) = 0;
  WorkerState worker_state_ TRACING_GUARDED_BY(mutex_);
  bool stopping_ TRACING_GUARDED_BY(mutex_) = false;
  std::thread::id worker_id_ TRACING_GUARDED_BY(mutex_){};

  std::atomic<std::uint64_t> written_lines_{0};  // stored by the worker alone
  std::atomic<std::uint64_t> written_bytes_{0};  // stored by the worker alone
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> ended_{true};  // the worker has ended or never started; stored under mutex_
  // Used by the worker alone:
  std::uint64_t reported_dropped_ = 0;
  InlineTextBuffer<kMaxJoinedBytes> joined_;
};

}}}  // namespace tracing::v1::internal
