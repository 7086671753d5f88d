#include "tracing_core/export/print/line_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/print/sink_call.h"
#include "tracing_core/export/spdlog_calls.h"
#include "tracing_core/support/scoped_no_cancellation.h"
#include "tracing_core/support/scoped_signal_block.h"
#include "tracing_core/support/thread_info.h"

namespace tracing { inline namespace v1 { namespace internal {

std::shared_ptr<LineQueue> LineQueue::make(SinkPtr sink, NonBlockingOptions options) {
  options.buffered_lines = std::max<std::size_t>(options.buffered_lines, 1);
  // A forked child leaks the queue.
  std::shared_ptr<LineQueue> queue(new LineQueue(std::move(sink), std::move(options)), [](LineQueue* made) {
    if (!made->is_in_forked_child()) delete made;
  });
  queue->start();
  return queue;
}

LineQueue::LineQueue(SinkPtr sink, NonBlockingOptions options)
    : sink_(std::move(sink)),
      line_sink_(dynamic_cast<LineSink*>(sink_.get())),
      joins_lines_(line_sink_ != nullptr && line_sink_->takes_joined_lines()),
      options_(std::move(options)) {}

void LineQueue::start() noexcept {
  MutexLock const lock(mutex_);  // held until worker_ is set
  ended_ = false;
  try {
    ScopedAsyncSignalBlock const blocked;
    worker_ = std::thread([this] { run(); });
  } catch (...) {
    ended_ = true;
  }
}

// ---- on the threads that write lines ----

void LineQueue::write(Level level, std::string_view text) noexcept {
  if (!should_log(*sink_, to_spdlog(level))) return;
  if (is_in_forked_child() || ended_.load(std::memory_order_acquire)) [[unlikely]]
    return write_directly(level, text);
  bool has_room;
  bool wakes = false;
  {
    MutexLock const lock(mutex_);
    has_room = wait_for_room(sizeof(Header) + text.size());
    if (has_room) [[likely]] {
      if (!append(level, text)) [[unlikely]]
        count_dropped();
      bool const is_wanted = !worker_state_.is(WorkerState::Kind::polling) || is_half_full();
      wakes = is_wanted && worker_state_.set_running();
    }
  }
  if (wakes) notify_worker();
  if (!has_room) [[unlikely]]
    ended_.load(std::memory_order_acquire) ? write_directly(level, text) : count_dropped();
}

// Returns false if the line finds no room. Then it must be written directly if the worker has ended, and dropped
// otherwise.
bool LineQueue::wait_for_room(std::size_t bytes) noexcept {
  if (!stopping_ && !is_full(bytes)) [[likely]]
    return true;
  if (std::this_thread::get_id() == worker_id_) return false;
  worker_state_.wake();
  if (!stopping_ && options_.lossy) return false;
  ScopedNoCancellation const no_cancellation;
  while (!stopping_ && is_full(bytes)) progress_.wait(mutex_);
  if (!stopping_) return true;
  while (!ended_.load(std::memory_order_relaxed)) progress_.wait(mutex_);  // so that lines keep their order
  return false;
}

bool LineQueue::is_full(std::size_t bytes) const noexcept {
  std::uint64_t const lines = accepted_lines_ - written_lines_.load(std::memory_order_acquire);
  if (lines >= options_.buffered_lines) return true;
  return lines > 0 &&
         accepted_bytes_ - written_bytes_.load(std::memory_order_relaxed) + bytes > options_.buffered_bytes;
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
  if (ended_.load(std::memory_order_acquire)) return flush_sink(*sink_);
  MutexLock const lock(mutex_);
  if (std::this_thread::get_id() == worker_id_) return;
  ScopedNoCancellation const no_cancellation;
  std::uint64_t const own = ++flushes_requested_;
  worker_state_.wake();
  while (flushes_done_ < own && !ended_.load(std::memory_order_relaxed)) progress_.wait(mutex_);
}

void LineQueue::finish() noexcept {
  if (is_in_forked_child() || !worker_.joinable()) return;
  {
    MutexLock const lock(mutex_);
    stopping_ = true;
    worker_state_.wake();
    progress_.notify_all();
  }
  worker_.join();
}

void LineQueue::write_directly(Level level, std::string_view text) noexcept {
  if (line_sink_ == nullptr && is_in_forked_child()) return count_dropped();  // the sink's lock may never be released
  give(header_of(level, text), text);
}

LineQueue::Header LineQueue::header_of(Level level, std::string_view text) const noexcept {
  if (line_sink_ != nullptr) return {text.size(), 0, 0, level};
  return {text.size(), Instant::now().ns, static_cast<std::int32_t>(this_thread_info().os_thread), level};
}

// ---- on the worker ----

void LineQueue::run() noexcept {
  InSubscriber const in_subscriber;
  pthread_setname_np(pthread_self(), options_.thread_name.substr(0, 15).c_str());
  mutex_.lock();
  worker_id_ = std::this_thread::get_id();
  for (int waits = 0;;) {
    if (!waiting_.empty()) {
      write_waiting();
      waits = 0;
      continue;
    }
    // All lines accepted so far are written.
    std::uint64_t const flushes = flushes_requested_;
    bool const stopping = stopping_;
    bool const flushing = stopping || flushes != flushes_done_;
    if (flushing || (waits > 0 && dropped() != reported_dropped_)) {
      mutex_.unlock();
      report_dropped();
      if (flushing) flush_sink(*sink_);
      mutex_.lock();
      flushes_done_ = flushes;
      ended_.store(stopping, std::memory_order_release);
      progress_.notify_all();
      if (stopping) break;
      continue;
    }
    if (waits >= kMaxPolls && spare_.size() > kMaxSpareBlocks) {
      drop_spare_blocks(kMaxSpareBlocks);
    } else if (waits >= kMaxPolls) {
      worker_state_.park(mutex_);
    } else {
      worker_state_.wait(mutex_, WorkerState::Kind::polling, kPollInterval);
    }
    waits = std::min(waits + 1, kMaxPolls);
  }
  drop_spare_blocks(0);  // later lines are written directly
  mutex_.unlock();
}

void LineQueue::drop_spare_blocks(std::size_t kept) noexcept {
  std::list<Block> dropped;
  dropped.swap(spare_);
  for (; kept > 0 && !dropped.empty(); --kept) spare_.splice(spare_.end(), dropped, dropped.begin());
  mutex_.unlock();
  dropped.clear();
  mutex_.lock();
}

void LineQueue::write_waiting() noexcept {
  std::list<Block> taken;
  taken.splice(taken.end(), waiting_);
  while (!taken.empty()) {
    mutex_.unlock();
    Block& block = taken.front();
    write_block(block);
    mutex_.lock();
    progress_.notify_all();
    if (block.size() <= kBlockBytes) {
      block.clear();
      spare_.splice(spare_.begin(), taken, taken.begin());  // in front, as it is in the caches
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
    std::size_t const bytes_before = rest.size();
    Lines const taken = take_lines(rest);
    give(taken.first, taken.text);
    written_bytes_.store(bytes += bytes_before - rest.size(), std::memory_order_relaxed);
    written_lines_.store(lines += taken.count, std::memory_order_release);
  }
}

// Takes the first line, and the lines after it that may be joined.
LineQueue::Lines LineQueue::take_lines(std::string_view& rest) noexcept {
  auto const next_header = [&rest] {
    Header header;
    std::memcpy(&header, rest.data(), sizeof(header));
    return header;
  };
  auto const take = [&rest](Header const& header) {
    std::string_view const text = rest.substr(sizeof(header), header.size);
    rest.remove_prefix(sizeof(header) + header.size);
    return text;
  };
  Header const first = next_header();
  Lines lines{.first = first, .text = take(first)};
  joined_.clear();
  while (joins_lines_ && !rest.empty()) {
    Header const next = next_header();
    if (lines.text.size() + next.size > kMaxJoinedBytes) break;
    if (joined_.empty()) joined_.append(lines.text);
    joined_.append(take(next));
    lines.text = joined_.view();
    ++lines.count;
  }
  return lines;
}

void LineQueue::report_dropped() noexcept {
  std::uint64_t const count = dropped() - reported_dropped_;
  reported_dropped_ += count;
  if (count == 0 || options_.append_dropped == nullptr) return;
  InlineTextBuffer<256> text;
  options_.append_dropped(text, count);
  if (!text.empty()) give({text.size(), 0, 0, Level::warn}, text.view());
}

void LineQueue::give(Header const& header, std::string_view text) noexcept {
  if (line_sink_ != nullptr) return line_sink_->write(header.level, text);
  give_to(*sink_, {.level = header.level, .text = text, .time = {header.time_ns}, .os_thread = header.os_thread});
}

}}}  // namespace tracing::v1::internal
