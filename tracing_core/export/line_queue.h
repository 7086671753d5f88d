// Declares LineQueue, the bounded queue of lines and the thread that empties it: what stands behind a NonBlockingSink.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "tracing_core/export/non_blocking.h"
#include "tracing_core/model/instant.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// Lines wait in blocks, each a run of (Header, text). The thread takes all blocks there are at once and writes their lines
// without the lock, so that writers only ever wait for the copying of other lines.
class LineQueue {
 public:
  static std::shared_ptr<LineQueue> make(SinkPtr behind, NonBlockingOptions options);
  ~LineQueue() = default;
  LineQueue(LineQueue const&) = delete;
  LineQueue& operator=(LineQueue const&) = delete;

  void write(Level level, std::string_view text) noexcept;
  void flush() noexcept;
  // Everything is written and the thread has ended. From then on, lines are written directly.
  void finish() noexcept;
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kBlockBytes = 64 * 1024 - 128;
  static constexpr std::size_t kMostSpareBlocks = 4;
  // Waking a sleeping thread costs the writer of a line more than all else together. So for a while after a line the
  // thread looks by itself, and only then sleeps until it is woken.
  static constexpr std::chrono::milliseconds kDoze{1};
  static constexpr int kMostDozes = 50;

  struct Header {
    std::size_t size;
    std::int64_t time_ns;
    std::int32_t os_thread;
    Level level;
  };
  using Block = InlineTextBuffer<kBlockBytes>;
  using Lock = std::unique_lock<std::mutex>;
  enum class Rest : unsigned char { awake, dozing, asleep };

  LineQueue(SinkPtr behind, NonBlockingOptions options);
  void start() noexcept;
  bool is_in_forked_child() const noexcept;

  // On the threads that write lines; but for the last three, with the lock.
  bool find_room(Lock& lock, std::size_t bytes) noexcept;
  bool is_full(std::size_t bytes) const noexcept;
  bool is_half_full() const noexcept;
  bool append(Level level, std::string_view text) noexcept;
  Block* block_with_room(std::size_t bytes) noexcept;
  void wake() noexcept;
  void count_dropped() noexcept { dropped_.fetch_add(1, std::memory_order_relaxed); }
  void write_directly(Level level, std::string_view text) noexcept;
  Header header_of(Level level, std::string_view text) const noexcept;

  // On the thread of the queue; the first three with the lock, which they may let go of meanwhile.
  void run() noexcept;
  void write_waiting(Lock& lock) noexcept;
  void rest(Lock& lock, bool deeply) noexcept;
  void write_block(Block const& block) noexcept;
  void tell_dropped() noexcept;

  void give(Header const& header, std::string_view text) noexcept;

  SinkPtr const behind_;
  LineSink* const line_sink_;  // the same where it is one of ours
  NonBlockingOptions const options_;
  unsigned const forks_when_made_;
  std::thread worker_;  // changed by start() and finish() alone

  std::mutex mutex_;
  std::condition_variable wake_;      // the thread has something to do
  std::condition_variable progress_;  // there is room, a flush is done, the thread has ended
  // Guarded by mutex_:
  std::list<Block> waiting_;
  std::list<Block> spare_;
  std::uint64_t accepted_lines_ = 0;
  std::uint64_t accepted_bytes_ = 0;
  std::uint64_t flushes_asked_ = 0;
  std::uint64_t flushes_done_ = 0;
  Rest rest_ = Rest::awake;
  bool stopping_ = false;
  std::thread::id worker_id_{};

  std::atomic<std::uint64_t> written_lines_{0};  // stored by the thread alone
  std::atomic<std::uint64_t> written_bytes_{0};  // the same
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> ended_{true};   // there is no thread; stored under mutex_
  std::uint64_t told_dropped_ = 0;  // of the thread alone

  friend struct Abandoned;
  LineQueue* next_abandoned_ = nullptr;
};

}  // namespace tracing::inline v1::internal
