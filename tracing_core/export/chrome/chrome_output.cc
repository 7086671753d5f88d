// Records travel from threads to the file like this:
//
//     thread 1: own_stream(), reserve(), commit()  ->  its ChromeStream  |
//     thread 2: likewise                           ->  its ChromeStream  |  merge_streams(): text  ->  block  ->  file
//     any:      add_text()                         ->  other_streams_    |
//
// The second half needs the mutex writing_ and is done by the worker, by a thread that flushes, or by a thread whose
// records are too many or too old to wait. It is in chrome_writing.cc.
#include "tracing_core/export/chrome/chrome_output.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/print/line_buffer.h"
#include "tracing_core/support/scoped_signal_block.h"
#include "tracing_core/support/thread_info.h"

namespace tracing { inline namespace v1 { namespace internal {

ChromeProcess ChromeProcess::current() { return {getpid(), program_invocation_short_name, Instant::now()}; }

std::shared_ptr<ChromeOutput> ChromeOutput::make(Destination destination, ChromeOptions const& options,
                                                 ChromeProcess process, std::error_code error) {
  start_span_clock();
  // A forked child leaks the output: another thread of the parent may have been changing it.
  return {new ChromeOutput(std::move(destination), options, std::move(process), error), [](ChromeOutput* made) {
            if (!made->is_in_forked_child()) delete made;
          }};
}

ChromeOutput::ChromeOutput(Destination destination, ChromeOptions const& options, ChromeProcess process,
                           std::error_code error)
    : write_through_(options.write_through),
      as_tracing_chrome_(options.as_tracing_chrome),
      error_fd_(options.error_fd),
      process_(std::move(process)),
      records_(options),
      error_(error) {
  clock_.calibrate();
  max_age_ = clock_.ticks_in(kMaxAgeNs / 2);
  if (destination.file != nullptr || destination.sink != nullptr) begin(std::move(destination));
}

ChromeOutput::~ChromeOutput() {
  finish();
  while (spare_chunks_ != nullptr) {
    ChromeChunk::destroy(std::exchange(spare_chunks_, spare_chunks_->next.load(std::memory_order_relaxed)));
  }
}

// ---- on the threads that record ----

ChromeStream* ChromeOutput::find_stream(PerTrack<ChromeStream>& streams, Track const& track,
                                        bool names_thread) noexcept {
  try {
    LineBuffer name;
    if (!name) return nullptr;
    MutexLock const lock(mutex_);
    ChromeStream& stream = streams.find(track);
    if (stream.thread_number == track.number && stream.end() != 0) return &stream;
    std::int64_t const tid = number_of(track);
    if (names_thread || as_tracing_chrome_) records_.append_thread_name(*name, {process_.pid, tid}, track);
    bool const waits = stream.is_behind();
    if (name->truncated() || !append_thread(stream, tid, name->view())) return nullptr;
    stream.thread_number = track.number;
    stream.tid = tid;
    if (worker_state_.is(WorkerState::Kind::parked)) worker_state_.wake();
    if (has_worker_ && !waits) stream.deadline.store(ticks_now() + max_age_, std::memory_order_relaxed);
    return &stream;
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

std::int64_t ChromeOutput::number_of(Track const& track) {
  if (process_.tid_of != nullptr) return process_.tid_of(track);
  if (!as_tracing_chrome_) {
    ThreadInfo const& own = this_thread_info();
    return track.number == own.number ? own.os_thread : static_cast<std::int64_t>(kFirstOtherTrack + track.number);
  }
  return tracks_.try_emplace(track.number, static_cast<std::int64_t>(tracks_.size())).first->second;
}

std::int64_t ChromeOutput::tid_of(Track const& track) noexcept {
  MutexLock const lock(mutex_);
  try {
    return number_of(track);
  } catch (std::bad_alloc const&) {
    return static_cast<std::int64_t>(kFirstOtherTrack + track.number);
  }
}

bool ChromeOutput::append_thread(ChromeStream& stream, std::int64_t tid, std::string_view name_record) noexcept {
  std::size_t const bytes = padded_to_word(sizeof(ChromeThreadRecord) + name_record.size());
  char* at = stream.reserve(bytes);
  if (at == nullptr) at = add_chunk_locked(stream, bytes);
  if (at == nullptr) return false;
  ChromeRecordHead const head{static_cast<std::uint32_t>(bytes), ChromeRecordHead::Kind::thread, 'M', ticks_now()};
  new (at) ChromeThreadRecord{head, tid, static_cast<std::uint32_t>(name_record.size())};
  name_record.copy(at + sizeof(ChromeThreadRecord), name_record.size());
  stream.commit(bytes);
  return true;
}

char* ChromeOutput::add_chunk(ChromeStream& stream, std::size_t bytes) noexcept {
  MutexLock const lock(mutex_);
  return add_chunk_locked(stream, bytes);
}

char* ChromeOutput::add_chunk_locked(ChromeStream& stream, std::size_t bytes) noexcept {
  ChromeChunk* chunk = nullptr;
  if (bytes <= ChromeChunk::kBytes && spare_chunks_ != nullptr) {
    chunk = std::exchange(spare_chunks_, spare_chunks_->next.load(std::memory_order_relaxed));
    chunk->next.store(nullptr, std::memory_order_relaxed);
    --spare_count_;
  } else {
    chunk = ChromeChunk::make(std::max(bytes, ChromeChunk::kBytes));
    if (chunk == nullptr) return nullptr;
  }
  full_bytes_ += stream.add(chunk);
  if (full_bytes_ > kMaxFullBytes) {
    stream.deadline.store(0, std::memory_order_relaxed);  // the thread writes, once it holds no lock
  } else if (worker_state_.is(WorkerState::Kind::polling) && full_bytes_ >= kEnoughBytes) {
    worker_state_.wake();
  }
  return stream.reserve(bytes);
}

// Called for a record that is later than its stream's deadline. Without a worker, every record is. Otherwise a record
// is if the worker is parked, if more than kMaxFullBytes are waiting, or if the stream's earlier records may be too
// old.
void ChromeOutput::check_deadline(ChromeStream& stream, std::uint64_t before, std::uint64_t ticks) noexcept {
  if (has_worker_) {
    MutexLock const lock(mutex_);
    if (worker_state_.is(WorkerState::Kind::parked)) worker_state_.wake();
    if (full_bytes_ <= kMaxFullBytes && stream.done() == before) {
      return stream.deadline.store(ticks + max_age_, std::memory_order_relaxed);
    }
  }
  MutexLock const lock(writing_);
  write_waiting();
}

void ChromeOutput::add_text(ChromeStream* own, Track const& track, std::string_view text, bool has_time,
                            std::uint64_t ticks, bool names_thread) noexcept {
  if (own == nullptr) {
    MutexLock const lock(others_mutex_);
    ChromeStream* const other = find_stream(other_streams_, track, names_thread);
    return other != nullptr ? add_text(other, track, text, has_time, ticks) : count_dropped(1);
  }
  std::size_t const bytes = padded_to_word(sizeof(ChromeTextRecord) + text.size());
  char* const at = bytes > kMaxChromeRecordBytes ? nullptr : reserve(*own, bytes);
  if (at == nullptr) [[unlikely]]
    return count_dropped(1);
  ChromeRecordHead const head{static_cast<std::uint32_t>(bytes), ChromeRecordHead::Kind::text, 'X', ticks};
  new (at) ChromeTextRecord{head, static_cast<std::uint32_t>(text.size()), has_time};
  text.copy(at + sizeof(ChromeTextRecord), text.size());
  commit(*own, bytes, ticks);
}

void ChromeOutput::add_slice(char phase, std::string_view name) noexcept {
  std::uint64_t const ticks = ticks_now();
  ThreadInfo const& thread = this_thread_info();
  LineBuffer line;
  if (!line) [[unlikely]]
    return count_dropped(1);
  records_.append_slice(*line, phase, name, {process_.pid, thread.os_thread});
  if (line->truncated()) [[unlikely]]
    return count_dropped(1);
  // Not to the stream of the thread's own records: it can be found by the registry's track only.
  add_text(nullptr, Track{.number = thread.number, .name = {}}, line->view(), false, ticks, false);
}

void ChromeOutput::add_slice(char phase, std::string_view name, Track const& track, Instant time) noexcept {
  LineBuffer line;
  if (!line) [[unlikely]]
    return count_dropped(1);
  records_.append_slice(*line, phase, name, {process_.pid, tid_of(track)});
  records_.end(*line, time_of(time));
  if (line->truncated()) [[unlikely]]
    return count_dropped(1);
  add_text(nullptr, track, line->view(), true, ticks_now(), false);
}

// ---- the worker ----

void ChromeOutput::start_worker() noexcept {
  if (write_through_ || worker_.joinable()) return;
  try {
    ScopedAsyncSignalBlock const blocked;
    worker_ = std::thread([this] { run(); });
    has_worker_ = true;
  } catch (...) {  // without a worker, the threads that record write
  }
}

void ChromeOutput::run() noexcept {
  InSubscriber const in_subscriber;  // a record that a sink emits would wait for the lock that its caller holds
  pthread_setname_np(pthread_self(), "tracing-chrome");
  while (wait_for_records()) {
    MutexLock const lock(writing_);
    write_waiting();
  }
}

// Returns false if the worker must end.
bool ChromeOutput::wait_for_records() noexcept {
  MutexLock const lock(mutex_);
  if (!stopping_ && !is_behind()) park();
  if (!stopping_ && full_bytes_ < kEnoughBytes) worker_state_.wait(mutex_, WorkerState::Kind::polling, kPollInterval);
  return !stopping_;
}

// Waits for a record: with a deadline of 0, a stream's next record leads its thread to check_deadline(), which wakes
// the worker. A record that is being made just now may still be compared with the earlier deadline; it is published
// long before the first wait ends, so is_behind() finds it.
void ChromeOutput::park() noexcept {
  for_each_stream([](ChromeStream& stream) { stream.deadline.store(0, std::memory_order_relaxed); });
  bool const is_woken = worker_state_.wait(mutex_, WorkerState::Kind::parked, kPollInterval);
  if (!is_woken && !is_behind()) worker_state_.park(mutex_);
}

bool ChromeOutput::is_behind() const noexcept {
  bool behind = false;
  for_each_stream([&behind](ChromeStream const& stream) { behind = behind || stream.is_behind(); });
  return behind;
}

// ---- for the guard ----

void ChromeOutput::flush() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  MutexLock const lock(writing_);
  write_waiting();
  if (target_.destination.sink != nullptr) target_.destination.sink->flush();
}

void ChromeOutput::start_new(Destination destination) noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  MutexLock const lock(writing_);
  error_.clear();
  write_waiting();
  complete();
  begin(std::move(destination));
}

void ChromeOutput::fail(std::error_code error) noexcept {
  MutexLock const lock(writing_);
  if (!is_open()) error_ = error;
}

void ChromeOutput::close() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  MutexLock const lock(writing_);
  is_open_.store(false, std::memory_order_relaxed);
  write_waiting();
  complete();
}

void ChromeOutput::finish() noexcept {
  close();
  if (is_in_forked_child() || !worker_.joinable()) return;
  has_worker_ = false;
  {
    MutexLock const lock(mutex_);
    stopping_ = true;
    worker_state_.wake();
  }
  worker_.join();
}

std::error_code ChromeOutput::error() const noexcept {
  if (is_in_forked_child()) return {};
  MutexLock const lock(writing_);
  return error_;
}

std::string ChromeOutput::path() const {
  if (is_in_forked_child()) return {};
  MutexLock const lock(writing_);
  return target_.destination.file == nullptr ? std::string() : target_.destination.file->path();
}

std::string default_trace_path() { return "trace-" + std::to_string(Instant::now().ns / 1000) + ".json"; }

}}}  // namespace tracing::v1::internal
