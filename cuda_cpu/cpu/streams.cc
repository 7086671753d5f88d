#include "cuda_cpu/cpu/streams.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace cuda_cpu::cpu {
namespace {

using tracing::internal::MutexLock;

bool is_done(Mark const& mark) noexcept { return mark.stream->completed >= mark.count; }

bool is_idle(Stream const& stream) noexcept { return stream.completed == stream.submitted; }

// The marks of wait_for() that are not done.
std::vector<Mark> waited_for(Stream const& stream) {
  std::vector<Mark> marks;
  std::ranges::remove_copy_if(stream.after_next, std::back_inserter(marks), is_done);
  return marks;
}

}  // namespace

Streams::Streams() : legacy_(create(true)) {}

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
  stream->queue.push_back({std::move(run), marks_before(stream)});
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
  if (can_run_here(stream)) run_here(stream, work);
  else wait_locked(submit_locked(stream, std::move(work)));
}

Mark Streams::submit_short(Handle const& stream, std::function<void()> work) {
  MutexLock const lock(mutex_);
  return can_run_here(stream) ? run_here(stream, work) : submit_locked(stream, std::move(work));
}

bool Streams::can_run_here(Handle const& stream) const { return is_idle(*stream) && marks_before(stream).empty(); }

// To other threads it looks like work on the stream's thread.
Mark Streams::run_here(Handle const& stream, std::function<void()> const& work) {
  Mark const end{stream, ++stream->submitted};
  stream->after_next.clear();
  mutex_.unlock();
  [&]() noexcept { work(); }();
  mutex_.lock();
  ++stream->completed;
  if (stream->is_closed && is_idle(*stream)) std::erase(all_, stream);
  progress_.notify_all();
  return end;
}

void Streams::wait_for(Handle const& stream, Mark mark) {
  MutexLock const lock(mutex_);
  if (!is_done(mark)) stream->after_next.push_back(std::move(mark));
}

std::vector<Mark> Streams::end_of(Handle const& stream) {
  MutexLock const lock(mutex_);
  // To wait for the legacy stream is to wait for the blocking streams as well, but not the other way round.
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
}

void Streams::wait(std::vector<Mark> const& marks) {
  MutexLock const lock(mutex_);
  for (auto const& mark : marks) wait_locked(mark);
}

bool Streams::are_done(std::vector<Mark> const& marks) {
  MutexLock const lock(mutex_);
  return std::all_of(marks.begin(), marks.end(), is_done);
}

// The thread of a stream.
void Streams::process(Handle const& stream) {
  MutexLock const lock(mutex_);
  for (;;) {
    while (stream->queue.empty() && !stream->is_closed) stream->has_work.wait(mutex_);
    // Work that another thread runs on this stream, in run_here(), comes first.
    while (stream->submitted - stream->completed != stream->queue.size()) progress_.wait(mutex_);
    if (stream->queue.empty()) break;
    auto work = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (auto const& mark : work.after) wait_locked(mark);
    mutex_.unlock();
    work.run();
    work = {};  // destroys what it captured before it counts as done
    mutex_.lock();
    ++stream->completed;
    progress_.notify_all();
  }
  std::erase(all_, stream);
}

}  // namespace cuda_cpu::cpu
