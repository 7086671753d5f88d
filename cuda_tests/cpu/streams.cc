#include "cuda_tests/cpu/streams.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace cuda_tests::cpu {
namespace {

bool is_done(Mark const& mark) noexcept { return mark.stream->completed >= mark.count; }

bool is_idle(Stream const& stream) noexcept { return stream.completed == stream.submitted; }

// What wait_for() asked for.
std::vector<Mark> waited_for(Stream const& stream) {
  std::vector<Mark> marks;
  std::ranges::remove_copy_if(stream.after_next, std::back_inserter(marks), is_done);
  return marks;
}

}  // namespace

Streams::Streams() : legacy_(create(true)) {}

Streams::Handle Streams::create(bool is_blocking) {
  std::lock_guard const lock(mutex_);
  return all_.emplace_back(std::make_shared<Stream>(++last_id_, is_blocking));
}

void Streams::close(Handle const& stream) {
  std::lock_guard const lock(mutex_);
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
    std::thread([this, stream] { work_off(stream); }).detach();
    stream->has_thread = true;
  }
  stream->queue.push_back({std::move(run), marks_before(stream)});
  stream->after_next.clear();
  stream->has_work.notify_one();
  return {stream, ++stream->submitted};
}

Mark Streams::submit(Handle const& stream, std::function<void()> run) {
  std::lock_guard const lock(mutex_);
  return submit_locked(stream, std::move(run));
}

void Streams::run(Handle const& stream, std::function<void()> work) {
  std::unique_lock lock(mutex_);
  if (is_idle(*stream) && marks_before(stream).empty()) {
    run_here(lock, stream, work);
    return;
  }
  auto const mark = submit_locked(stream, std::move(work));
  progress_.wait(lock, [&mark] { return is_done(mark); });
}

Mark Streams::submit_short(Handle const& stream, std::function<void()> work) {
  std::unique_lock lock(mutex_);
  if (!is_idle(*stream) || !marks_before(stream).empty()) return submit_locked(stream, std::move(work));
  return run_here(lock, stream, work);
}

// Under way for others, as what the stream's thread does.
Mark Streams::run_here(std::unique_lock<std::mutex>& lock, Handle const& stream, std::function<void()> const& work) {
  Mark const end{stream, ++stream->submitted};
  stream->after_next.clear();
  lock.unlock();
  work();
  lock.lock();
  ++stream->completed;
  if (stream->is_closed && is_idle(*stream)) std::erase(all_, stream);
  progress_.notify_all();
  return end;
}

void Streams::wait_for(Handle const& stream, Mark mark) {
  std::lock_guard const lock(mutex_);
  if (!is_done(mark)) stream->after_next.push_back(std::move(mark));
}

std::vector<Mark> Streams::end_of(Handle const& stream) {
  std::lock_guard const lock(mutex_);
  // The legacy stream's next work is after that of blocking streams, which is therefore part of it; not the other way round.
  auto marks = stream == legacy_ ? marks_before(stream) : waited_for(*stream);
  marks.push_back({stream, stream->submitted});
  return marks;
}

std::vector<Mark> Streams::end_of_all() {
  std::lock_guard const lock(mutex_);
  std::vector<Mark> marks;
  for (auto const& stream : all_) marks.push_back({stream, stream->submitted});
  return marks;
}

void Streams::wait(std::vector<Mark> const& marks) {
  std::unique_lock lock(mutex_);
  for (auto const& mark : marks) progress_.wait(lock, [&mark] { return is_done(mark); });
}

bool Streams::are_done(std::vector<Mark> const& marks) {
  std::lock_guard const lock(mutex_);
  return std::all_of(marks.begin(), marks.end(), is_done);
}

void Streams::work_off(Handle const& stream) {
  std::unique_lock lock(mutex_);
  for (;;) {
    stream->has_work.wait(lock, [&stream] { return !stream->queue.empty() || stream->is_closed; });
    // What another thread does itself on this stream, in run() or submit_short(), comes first.
    progress_.wait(lock, [&stream] { return stream->submitted - stream->completed == stream->queue.size(); });
    if (stream->queue.empty()) break;
    auto work = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (auto const& mark : work.after) progress_.wait(lock, [&mark] { return is_done(mark); });
    lock.unlock();
    work.run();
    work = {};  // what it holds goes before it counts as done
    lock.lock();
    ++stream->completed;
    progress_.notify_all();
  }
  std::erase(all_, stream);
}

}  // namespace cuda_tests::cpu
