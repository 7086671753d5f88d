// Orders the work of streams as CUDA does, with a queue and a thread for each stream.
//
// The work of a stream runs in order, and streams run concurrently, but streams also wait for each other. An event lets
// a stream wait for a point in another stream. The NULL stream waits for all blocking streams, and they wait for it.
// The host waits for points in any of them.
//
// All of these are one relation here. A Mark names a point, "after the first `count` pieces of work of this stream",
// and is done when the stream's `completed` has reached that count. Each piece of work is queued with the marks that it
// waits for. The marks are found when the work is submitted: the marks of wait_for() since the last submission, and,
// for the NULL stream, the ends of the blocking streams, or, for a blocking stream, the end of the NULL stream. From
// then on the NULL stream is a stream like any other. The host waits for marks, too, and an event is a mark with a
// time.
//
// The invariants, all guarded by mutex_:
//
// - A mark counts work that was submitted already, so each piece of work waits only for earlier pieces. The order of
//   submission is therefore an order in which all work can run: streams never wait for each other in a circle.
// - A stream runs one piece of work at a time, in order, so two counters describe it: `submitted - completed` is the
//   number of queued pieces, plus one while a piece runs.
// - Work never runs under the mutex, because it may submit work, and it may take long.
//
// The thread of a stream starts with the first work that needs it. If a stream is idle and its next work can start at
// once, run() and submit_short() run the work on the calling thread, which is cheaper than a switch to another thread.
// Such a piece is counted but not queued; process() sees the difference and waits until the caller is done. So other
// threads cannot tell on which thread the work ran.
//
// Rejected: a pool with a fixed number of threads. Work can wait for other work in ways that Streams cannot see: a host
// function may wait for a flag, and a kernel may spin on memory that a kernel in another stream writes. If such work
// held all threads of the pool, the work that it waits for would never run. Also rejected: a lock for each stream. A
// submission to the NULL stream reads all streams, and the one lock is only held for bookkeeping.
#include "cuda_cpu/cpu/streams.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace cuda_cpu::cpu {
namespace {

using tracing::support::MutexLock;

bool is_done(Mark const& mark) noexcept { return mark.stream->completed >= mark.count; }

bool is_idle(Stream const& stream) noexcept { return stream.completed == stream.submitted; }

// Returns the marks of wait_for() that are not done.
std::vector<Mark> waited_for(Stream const& stream) {
  std::vector<Mark> marks;
  std::ranges::remove_copy_if(stream.after_next, std::back_inserter(marks), is_done);
  return marks;
}

}  // namespace

namespace {

thread_local WorkOrder const* order_of_thread = nullptr;

// While it exists, current_order() returns `order`.
class OrderScope {
 public:
  explicit OrderScope(WorkOrder const* order) noexcept : before_(std::exchange(order_of_thread, order)) {}
  OrderScope(OrderScope const&) = delete;
  OrderScope& operator=(OrderScope const&) = delete;
  ~OrderScope() { order_of_thread = before_; }

 private:
  WorkOrder const* const before_;
};

}  // namespace

Streams::Streams(bool tracks_order) : tracks_order_(tracks_order), legacy_(create(true)) {}

WorkOrder const* Streams::current_order() noexcept { return order_of_thread; }

bool Streams::are_several() {
  MutexLock const lock(mutex_);
  return all_.size() > 1;
}

void Streams::show_to_host() {
  if (order_of_thread == nullptr) return;
  MutexLock const lock(mutex_);
  merge(host_, order_of_thread->before);
}

// Adds the mark, and what was before the last work of its stream. This may be more than was before the mark, so that a
// race may go unreported.
void Streams::see_done(StreamClock& clock, Mark const& mark) const {
  if (!tracks_order_) return;
  auto const own = clock[mark.stream->id];
  merge(clock, mark.stream->clock);
  clock[mark.stream->id] = std::max(own, mark.count);
}

// Returns the order of the next work of the stream, which is after all that the host has waited for, and notes it.
WorkOrder Streams::next_order(Handle const& stream) {
  if (!tracks_order_) return {};
  StreamClock& clock = stream->clock;
  merge(clock, host_);
  for (auto const& other : all_) {
    bool const waits =
        other != stream && other->is_blocking && stream->is_blocking && (stream == legacy_ || other == legacy_);
    if (waits) see_done(clock, {other, other->submitted});
  }
  std::uint64_t const number = stream->submitted + 1;
  clock[stream->id] = number;
  return {stream->id, number, clock};
}

Streams::Handle Streams::create(bool is_blocking) {
  MutexLock const lock(mutex_);
  return all_.emplace_back(std::make_shared<Stream>(++last_id_, is_blocking));
}

void Streams::close(Handle const& stream) {
  MutexLock const lock(mutex_);
  stream->is_closed = true;
  if (is_idle(*stream)) std::erase(all_, stream);
  stream->has_work.notify_one();
}

std::vector<Mark> Streams::marks_before(Handle const& stream) const {
  auto marks = waited_for(*stream);
  if (!stream->is_blocking) return marks;
  for (auto const& other : all_) {
    if (other == stream || !other->is_blocking || is_idle(*other)) continue;
    if (stream == legacy_ || other == legacy_) marks.push_back({other, other->submitted});
  }
  return marks;
}

Mark Streams::submit_locked(Handle const& stream, std::function<void()> run) {
  if (!stream->has_thread) {
    std::thread([this, stream] { process(stream); }).detach();
    stream->has_thread = true;
  }
  stream->queue.push_back({std::move(run), marks_before(stream), next_order(stream)});
  stream->after_next.clear();
  stream->has_work.notify_one();
  return {stream, ++stream->submitted};
}

Mark Streams::submit(Handle const& stream, std::function<void()> run) {
  MutexLock const lock(mutex_);
  return submit_locked(stream, std::move(run));
}

void Streams::run(Handle const& stream, std::function<void()> work) {
  MutexLock const lock(mutex_);
  Mark const end = can_run_here(stream) ? run_here(stream, work) : submit_locked(stream, std::move(work));
  wait_locked(end);
}

Mark Streams::submit_short(Handle const& stream, std::function<void()> work) {
  MutexLock const lock(mutex_);
  return can_run_here(stream) ? run_here(stream, work) : submit_locked(stream, std::move(work));
}

bool Streams::can_run_here(Handle const& stream) const { return is_idle(*stream) && marks_before(stream).empty(); }

// Runs work on the calling thread. To other threads it looks like work on the stream's thread.
Mark Streams::run_here(Handle const& stream, std::function<void()> const& work) {
  WorkOrder const order = next_order(stream);
  Mark const end{stream, ++stream->submitted};
  stream->after_next.clear();
  mutex_.unlock();
  [&]() noexcept {
    OrderScope const scope(tracks_order_ ? &order : nullptr);
    work();
  }();
  mutex_.lock();
  ++stream->completed;
  if (stream->is_closed && is_idle(*stream)) std::erase(all_, stream);
  progress_.notify_all();
  return end;
}

void Streams::wait_for(Handle const& stream, Mark mark) {
  MutexLock const lock(mutex_);
  see_done(stream->clock, mark);
  if (!is_done(mark)) stream->after_next.push_back(std::move(mark));
}

std::vector<Mark> Streams::end_of(Handle const& stream) {
  MutexLock const lock(mutex_);
  // Waiting for the legacy stream means waiting for the blocking streams as well, but not the other way round.
  auto marks = stream == legacy_ ? marks_before(stream) : waited_for(*stream);
  marks.push_back({stream, stream->submitted});
  return marks;
}

std::vector<Mark> Streams::end_of_all() {
  MutexLock const lock(mutex_);
  std::vector<Mark> marks;
  for (auto const& stream : all_) marks.push_back({stream, stream->submitted});
  return marks;
}

void Streams::wait_locked(Mark const& mark) {
  while (!is_done(mark)) progress_.wait(mutex_);
  see_done(host_, mark);
}

void Streams::wait(std::vector<Mark> const& marks) {
  MutexLock const lock(mutex_);
  for (auto const& mark : marks) wait_locked(mark);
}

bool Streams::wait_until(std::vector<Mark> const& marks, std::chrono::steady_clock::time_point deadline) {
  MutexLock const lock(mutex_);
  while (!std::ranges::all_of(marks, is_done))
    if (!progress_.wait_until(mutex_, deadline)) return std::ranges::all_of(marks, is_done);
  return true;
}

bool Streams::are_done(std::vector<Mark> const& marks) {
  MutexLock const lock(mutex_);
  if (!std::all_of(marks.begin(), marks.end(), is_done)) return false;
  for (auto const& mark : marks) see_done(host_, mark);
  return true;
}

// Runs on the stream's thread until the stream is closed and has no work.
void Streams::process(Handle const& stream) {
  MutexLock const lock(mutex_);
  for (;;) {
    while (stream->queue.empty() && !stream->is_closed) stream->has_work.wait(mutex_);
    // Work that another thread is running on this stream, in run_here(), comes first.
    while (stream->submitted - stream->completed != stream->queue.size()) progress_.wait(mutex_);
    if (stream->queue.empty()) break;
    auto work = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (auto const& mark : work.after)
      while (!is_done(mark)) progress_.wait(mutex_);
    mutex_.unlock();
    {
      OrderScope const scope(tracks_order_ ? &work.order : nullptr);
      work.run();
    }
    work = {};  // destroys the captures before the work counts as done
    mutex_.lock();
    ++stream->completed;
    progress_.notify_all();
  }
  std::erase(all_, stream);
}

}  // namespace cuda_cpu::cpu
