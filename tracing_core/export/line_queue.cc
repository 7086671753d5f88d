#include "tracing_core/export/line_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/fork_count.h"
#include "tracing_core/export/sink_call.h"
#include "tracing_core/export/without_signal.h"
#include "tracing_core/internal/thread_info.h"

namespace tracing::inline v1::internal {

std::shared_ptr<LineQueue> LineQueue::make(SinkPtr behind, NonBlockingOptions options) {
  count_forks();
  options.buffered_lines = std::max<std::size_t>(options.buffered_lines, 1);
  std::shared_ptr<LineQueue> queue(new LineQueue(std::move(behind), std::move(options)), Abandoned::let_go<LineQueue>);
  queue->start();
  return queue;
}

LineQueue::LineQueue(SinkPtr behind, NonBlockingOptions options)
    : behind_(std::move(behind)),
      line_sink_(dynamic_cast<LineSink*>(behind_.get())),
      options_(std::move(options)),
      forks_when_made_(fork_count()) {}

void LineQueue::start() noexcept {
  Lock const lock(mutex_);  // held until worker_ is set
  ended_ = false;
  try {
    WithoutSignals const blocked;
    worker_ = std::thread([this] { run(); });
  } catch (...) {
    ended_ = true;
  }
}

// The lock of a queue may then be held by a thread that is not there, and its lists may be half changed: it is not touched
// any more.
bool LineQueue::is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }

// ---- on the threads that write lines ----

void LineQueue::write(Level level, std::string_view text) noexcept {
  if (!behind_->should_log(to_spdlog(level))) return;
  if (is_in_forked_child() || ended_.load(std::memory_order_acquire)) [[unlikely]] return write_directly(level, text);
  Lock lock(mutex_);
  if (!find_room(lock, sizeof(Header) + text.size())) [[unlikely]] {
    lock.unlock();
    return ended_.load(std::memory_order_acquire) ? write_directly(level, text) : count_dropped();
  }
  if (!append(level, text)) [[unlikely]] count_dropped();
  bool const wakes = rest_ == Rest::asleep || (rest_ == Rest::dozing && is_half_full());
  if (wakes) rest_ = Rest::awake;
  lock.unlock();
  if (wakes) wake_.notify_one();
}

// False where there is none: the line is to be dropped, or written directly where the thread has ended.
bool LineQueue::find_room(Lock& lock, std::size_t bytes) noexcept {
  if (!stopping_ && !is_full(bytes)) [[likely]] return true;
  if (std::this_thread::get_id() == worker_id_) return false;
  wake();
  if (!stopping_ && options_.lossy) return false;
  progress_.wait(lock, [&] { return stopping_ || !is_full(bytes); });
  if (!stopping_) return true;
  progress_.wait(lock, [this] { return ended_.load(std::memory_order_relaxed); });  // so that lines keep their order
  return false;
}

bool LineQueue::is_full(std::size_t bytes) const noexcept {
  std::uint64_t const lines = accepted_lines_ - written_lines_.load(std::memory_order_acquire);
  if (lines >= options_.buffered_lines) return true;
  return lines > 0 && accepted_bytes_ - written_bytes_.load(std::memory_order_relaxed) + bytes > options_.buffered_bytes;
}

bool LineQueue::is_half_full() const noexcept {
  return (accepted_lines_ - written_lines_.load(std::memory_order_relaxed)) * 2 >= options_.buffered_lines ||
         (accepted_bytes_ - written_bytes_.load(std::memory_order_relaxed)) * 2 >= options_.buffered_bytes;
}

bool LineQueue::append(Level level, std::string_view text) noexcept {
  Header const header = header_of(level, text);
  std::size_t const bytes = sizeof(header) + text.size();
  Block* const block = block_with_room(bytes);
  char* const at = block != nullptr ? block->reserve(bytes) : nullptr;
  if (at == nullptr) return false;
  std::memcpy(at, &header, sizeof(header));
  text.copy(at + sizeof(header), text.size());
  block->commit(bytes);
  ++accepted_lines_;
  accepted_bytes_ += bytes;
  return true;
}

LineQueue::Block* LineQueue::block_with_room(std::size_t bytes) noexcept {
  if (!waiting_.empty() && waiting_.back().size() + bytes <= kBlockBytes) return &waiting_.back();
  if (!spare_.empty()) {
    waiting_.splice(waiting_.end(), spare_, spare_.begin());
    return &waiting_.back();
  }
  try {
    return &waiting_.emplace_back();
  } catch (...) {
    return nullptr;
  }
}

void LineQueue::flush() noexcept {
  if (is_in_forked_child()) {
    if (line_sink_ != nullptr) line_sink_->flush();
    return;
  }
  if (ended_.load(std::memory_order_acquire)) return flush_sink(*behind_);
  Lock lock(mutex_);
  if (std::this_thread::get_id() == worker_id_) return;
  std::uint64_t const own = ++flushes_asked_;
  wake();
  progress_.wait(lock, [&] { return flushes_done_ >= own || ended_.load(std::memory_order_relaxed); });
}

void LineQueue::finish() noexcept {
  if (is_in_forked_child() || !worker_.joinable()) return;
  {
    Lock const lock(mutex_);
    stopping_ = true;
    wake();
    progress_.notify_all();
  }
  worker_.join();
}

void LineQueue::wake() noexcept {
  if (rest_ == Rest::awake) return;
  rest_ = Rest::awake;
  wake_.notify_one();
}

void LineQueue::write_directly(Level level, std::string_view text) noexcept {
  if (line_sink_ == nullptr && is_in_forked_child()) return count_dropped();  // its lock may be held for ever
  give(header_of(level, text), text);
}

LineQueue::Header LineQueue::header_of(Level level, std::string_view text) const noexcept {
  if (line_sink_ != nullptr) return {text.size(), 0, 0, level};
  return {text.size(), Instant::now().ns, static_cast<std::int32_t>(this_thread_info().os_thread), level};
}

// ---- on the thread of the queue ----

void LineQueue::run() noexcept {
  InSubscriber const in_subscriber;
  pthread_setname_np(pthread_self(), options_.thread_name.substr(0, 15).c_str());
  Lock lock(mutex_);
  worker_id_ = std::this_thread::get_id();
  for (int rests = 0;;) {
    if (!waiting_.empty()) {
      write_waiting(lock);
      rests = 0;
      continue;
    }
    // All that was accepted so far is written.
    std::uint64_t const flushes = flushes_asked_;
    bool const stopping = stopping_;
    bool const flushing = stopping || flushes != flushes_done_;
    if (flushing || (rests > 0 && dropped() != told_dropped_)) {
      lock.unlock();
      tell_dropped();
      if (flushing) flush_sink(*behind_);
      lock.lock();
      flushes_done_ = flushes;
      ended_.store(stopping, std::memory_order_release);
      progress_.notify_all();
      if (stopping) return;
      continue;
    }
    rest(lock, rests >= kMostDozes);
    rests = std::min(rests + 1, kMostDozes);
  }
}

void LineQueue::write_waiting(Lock& lock) noexcept {
  std::list<Block> taken;
  taken.splice(taken.end(), waiting_);
  while (!taken.empty()) {
    lock.unlock();
    Block& block = taken.front();
    write_block(block);
    lock.lock();
    progress_.notify_all();
    if (spare_.size() < kMostSpareBlocks && block.size() <= kBlockBytes) {
      block.clear();
      spare_.splice(spare_.end(), taken, taken.begin());
    } else {
      taken.pop_front();
    }
  }
}

void LineQueue::write_block(Block const& block) noexcept {
  std::string_view rest = block.view();
  std::uint64_t lines = written_lines_.load(std::memory_order_relaxed);
  std::uint64_t bytes = written_bytes_.load(std::memory_order_relaxed);
  while (!rest.empty()) {
    Header header;
    std::memcpy(&header, rest.data(), sizeof(header));
    give(header, rest.substr(sizeof(header), header.size));
    std::size_t const size = sizeof(header) + header.size;
    rest.remove_prefix(size);
    written_bytes_.store(bytes += size, std::memory_order_relaxed);
    written_lines_.store(++lines, std::memory_order_release);
  }
}

void LineQueue::rest(Lock& lock, bool deeply) noexcept {
  rest_ = deeply ? Rest::asleep : Rest::dozing;
  if (deeply) {
    wake_.wait(lock);
  } else {
    wake_.wait_for(lock, kDoze);
  }
  rest_ = Rest::awake;
}

void LineQueue::tell_dropped() noexcept {
  std::uint64_t const count = dropped() - told_dropped_;
  told_dropped_ += count;
  if (count == 0 || options_.append_dropped == nullptr) return;
  InlineTextBuffer<256> text;
  options_.append_dropped(text, count);
  if (!text.empty()) give({text.size(), 0, 0, Level::warn}, text.view());
}

void LineQueue::give(Header const& header, std::string_view text) noexcept {
  if (line_sink_ != nullptr) return line_sink_->write(header.level, text);
  give_to(*behind_, {.level = header.level, .text = text, .time = {header.time_ns}, .os_thread = header.os_thread});
}

}  // namespace tracing::inline v1::internal
