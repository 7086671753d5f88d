// Records travel from threads to the file like this:
//
//     thread: own_stream(), reserve(), commit()  ->  its ChromeStream  |
//     thread: the same                           ->  its ChromeStream  |  merge_streams(): text  ->  block  ->  file
//     any:    add_whole()                        ->  others_           |
//
// Whoever holds writing_ does the second half: the trace's own thread, one that flushes, or one that recorded more than may
// wait. How what is read becomes text and is written stands in chrome_writing.cc.
#include "tracing_core/export/chrome_output.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/export/chrome_limits.h"
#include "tracing_core/export/fork_count.h"
#include "tracing_core/export/line_buffer.h"
#include "tracing_core/export/without_signal.h"
#include "tracing_core/internal/thread_info.h"

namespace tracing::inline v1::internal {
namespace {

// Tracks that are no threads of this process are numbered from here on, above all numbers that the system gives to threads.
constexpr std::int64_t kFirstOtherTrack = 1 << 30;

}  // namespace

std::shared_ptr<ChromeOutput> ChromeOutput::make(Destination destination, ChromeOptions const& options, std::error_code error) {
  count_forks();
  start_span_clock();
  return {new ChromeOutput(std::move(destination), options, error), Abandoned::let_go<ChromeOutput>};
}

ChromeOutput::ChromeOutput(Destination destination, ChromeOptions const& options, std::error_code error)
    : write_through_(options.write_through), as_tracing_chrome_(options.as_tracing_chrome), complain_to_(options.complain_to),
      forks_when_made_(fork_count()), pid_(options.as_tracing_chrome ? 1 : getpid()), records_(options), start_(Instant::now()),
      error_(error), callsites_(records_, pid_) {
  clock_.go_on();
  most_age_ = clock_.ticks_in(kMostAgeNs / 2);
  if (destination.file != nullptr || destination.sink != nullptr) begin(std::move(destination));
}

ChromeOutput::~ChromeOutput() {
  finish();
  while (spare_chunks_ != nullptr) {
    ChromeChunk::destroy(std::exchange(spare_chunks_, spare_chunks_->next.load(std::memory_order_relaxed)));
  }
}

bool ChromeOutput::is_in_forked_child() const noexcept { return fork_count() != forks_when_made_; }

// ---- on the threads that record ----

ChromeStream* ChromeOutput::begin_stream(Track const& track) noexcept {
  if (is_in_forked_child() || !is_own_track(track)) return nullptr;
  try {
    LineBuffer name;
    Lock const lock(mutex_);
    std::uint64_t const list = list_.load(std::memory_order_relaxed);
    if (list == 0 || !name) return nullptr;
    ChromeStream& stream = streams_.find(track);
    if (stream.list == list && stream.thread_number == track.number) return &stream;  // its thread asked for too many others
    std::int64_t const tid = number_of(track);
    records_.append_thread_name(*name, {pid_, tid}, track.name);
    bool const waits = stream.is_behind();
    if (name->truncated() || !append_thread(stream, list, tid, name->view())) return nullptr;
    stream.thread_number = track.number;
    stream.tid = tid;
    stream.list = list;
    if (rest_ == Rest::asleep) wake();
    if (!waits) stream.deadline.store(ticks_now() + most_age_, std::memory_order_relaxed);
    return &stream;
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

std::int64_t ChromeOutput::number_of(Track const& track) {
  if (!as_tracing_chrome_) {
    ThreadInfo const& own = this_thread_info();
    return track.number == own.number ? own.os_thread : kFirstOtherTrack + static_cast<std::int64_t>(track.number);
  }
  return tracks_.try_emplace(track.number, KnownTrack{static_cast<std::int64_t>(tracks_.size()), 0}).first->second.tid;
}

bool ChromeOutput::append_thread(ChromeStream& stream, std::uint64_t list, std::int64_t tid,
                                 std::string_view name_record) noexcept {
  std::size_t const bytes = padded_record(sizeof(ChromeThreadRecord) + name_record.size());
  char* at = stream.reserve(bytes);
  if (at == nullptr) at = bring_room_locked(stream, bytes);
  if (at == nullptr) return false;
  ChromeRecordHead const head{static_cast<std::uint32_t>(bytes), ChromeRecordHead::Kind::thread, 'M', ticks_now()};
  new (at) ChromeThreadRecord{head, list, tid, static_cast<std::uint32_t>(name_record.size())};
  name_record.copy(at + sizeof(ChromeThreadRecord), name_record.size());
  stream.commit(bytes);
  return true;
}

char* ChromeOutput::bring_room(ChromeStream& stream, std::size_t bytes) noexcept {
  Lock const lock(mutex_);
  return bring_room_locked(stream, bytes);
}

char* ChromeOutput::bring_room_locked(ChromeStream& stream, std::size_t bytes) noexcept {
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
  if (full_bytes_ > kMostBytes) {
    stream.deadline.store(0, std::memory_order_relaxed);  // it writes, once it holds no lock
  } else if (rest_ == Rest::dozing && full_bytes_ >= kEnoughBytes) {
    wake();
  }
  return stream.reserve(bytes);
}

// A stream comes here at its first record while the thread sleeps, where more waits than may, and where what it recorded before
// may be old.
void ChromeOutput::look_after(ChromeStream& stream, std::uint64_t before, std::uint64_t ticks) noexcept {
  {
    Lock const lock(mutex_);
    if (rest_ == Rest::asleep) wake();
    if (full_bytes_ <= kMostBytes && stream.done() == before) {
      return stream.deadline.store(ticks + most_age_, std::memory_order_relaxed);
    }
  }
  Lock const lock(writing_);
  write_waiting();
}

void ChromeOutput::add_text(ChromeStream& stream, std::string_view text, bool has_time, std::uint64_t ticks) noexcept {
  std::size_t const bytes = padded_record(sizeof(ChromeTextRecord) + text.size());
  char* const at = bytes > kMostRecordBytes ? nullptr : reserve(stream, bytes);
  if (at == nullptr) [[unlikely]] return count_dropped(1);
  ChromeRecordHead const head{static_cast<std::uint32_t>(bytes), ChromeRecordHead::Kind::text, 'X', ticks};
  new (at) ChromeTextRecord{head, static_cast<std::uint32_t>(text.size()), has_time};
  text.copy(at + sizeof(ChromeTextRecord), text.size());
  commit(stream, bytes, ticks);
}

// ---- on any thread ----

ChromeOutput::Thread ChromeOutput::thread(Track const& track) noexcept {
  try {
    Lock const lock(mutex_);
    std::uint64_t const list = list_.load(std::memory_order_relaxed);
    std::int64_t const tid = number_of(track);
    if (!as_tracing_chrome_ && is_own_track(track)) {
      if (has_thread_.load(std::memory_order_relaxed)) return {tid, false};  // the name is for its stream, which lacks memory
      ChromeStream& stream = streams_.find(track);
      bool const is_new = std::exchange(stream.list, list) != list;
      return {tid, std::exchange(stream.thread_number, track.number) != track.number || is_new};
    }
    KnownTrack& known = tracks_.try_emplace(track.number, KnownTrack{tid, 0}).first->second;
    return {known.tid, std::exchange(known.list, list) != list};
  } catch (std::bad_alloc const&) {
    return {kFirstOtherTrack + static_cast<std::int64_t>(track.number), false};
  }
}

void ChromeOutput::add_whole(std::string_view text) noexcept {
  if (write_through_ || !has_thread_.load(std::memory_order_relaxed)) {
    Lock const lock(writing_);
    if (is_open()) write_record(text);
    return;
  }
  Lock const others(others_mutex_);
  std::uint64_t const list = list_.load(std::memory_order_relaxed);
  if (list == 0) return;
  if (others_.list != list) {
    Lock const lock(mutex_);
    if (!append_thread(others_, list, 0, {})) return count_dropped(1);
    others_.list = list;
  }
  add_text(others_, text, true, ticks_now());
}

// ---- the thread ----

void ChromeOutput::start_thread() noexcept {
  if (write_through_ || worker_.joinable()) return;
  try {
    WithoutSignals const blocked;
    worker_ = std::thread([this] { run(); });
    has_thread_ = true;
  } catch (...) {  // then the threads that record write
  }
}

void ChromeOutput::wake() noexcept {
  rest_ = Rest::awake;
  wake_.notify_one();
}

void ChromeOutput::run() noexcept {
  InSubscriber const in_subscriber;  // what a sink emits would wait for the lock that it is called under
  pthread_setname_np(pthread_self(), "tracing-chrome");
  Lock lock(mutex_);
  while (!stopping_) {
    if (!is_behind()) sleep(lock);
    rest_ = Rest::dozing;
    if (full_bytes_ < kEnoughBytes) wake_.wait_for(lock, kDoze, [this] { return stopping_ || rest_ == Rest::awake; });
    rest_ = Rest::awake;
    lock.unlock();
    {
      Lock const writing(writing_);
      write_waiting();
    }
    lock.lock();
  }
}

// Until somebody records something: their first record brings them to look_after(). One that is being recorded just now may
// have been compared with the deadline of before; a store is seen within far less than a doze, and then it is found here.
void ChromeOutput::sleep(Lock& lock) noexcept {
  auto const is_awake = [this] { return stopping_ || rest_ == Rest::awake; };
  rest_ = Rest::asleep;
  for_each_stream([](ChromeStream& stream) { stream.deadline.store(0, std::memory_order_relaxed); });
  if (wake_.wait_for(lock, kDoze, is_awake) || is_behind()) return;
  wake_.wait(lock, is_awake);
}

bool ChromeOutput::is_behind() const noexcept {
  bool behind = others_.is_behind();
  for (ChromeStream const* stream = streams_.first(); stream != nullptr; stream = stream->next)
    behind = behind || stream->is_behind();
  return behind;
}

// ---- the guard's ----

void ChromeOutput::flush() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  Lock const lock(writing_);
  write_waiting();
  if (now_.destination.sink != nullptr) now_.destination.sink->flush();
}

void ChromeOutput::start_new(Destination destination) noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  Lock const lock(writing_);
  error_.clear();
  is_open() ? go_on_in({std::move(destination)}) : begin(std::move(destination));
}

void ChromeOutput::fail(std::error_code error) noexcept {
  Lock const lock(writing_);
  if (!is_open()) error_ = error;
}

void ChromeOutput::close() noexcept {
  if (is_in_forked_child()) return;
  InSubscriber const in_subscriber;
  Lock const lock(writing_);
  end();
}

void ChromeOutput::finish() noexcept {
  close();
  if (is_in_forked_child() || !worker_.joinable()) return;
  has_thread_ = false;
  {
    Lock const lock(mutex_);
    stopping_ = true;
    wake();
  }
  worker_.join();
}

std::error_code ChromeOutput::error() const noexcept {
  if (is_in_forked_child()) return {};
  Lock const lock(writing_);
  return error_;
}

std::string ChromeOutput::path() const {
  if (is_in_forked_child()) return {};
  Lock const lock(writing_);
  return now_.destination.file == nullptr ? std::string() : now_.destination.file->path();
}

std::string default_trace_path() { return "trace-" + std::to_string(Instant::now().ns / 1000) + ".json"; }

}  // namespace tracing::inline v1::internal
