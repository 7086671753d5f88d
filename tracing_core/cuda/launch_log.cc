#include "tracing_core/cuda/launch_log.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace tracing::inline v1::cuda {
namespace {

thread_local constinit LaunchId this_threads_launch = 0;
constinit std::atomic<LaunchId> last_launch{0};

// One handle for each stream: the default one has two, and that of "this thread's" stands for as many as there are threads.
CUstream canonical(CUstream stream) noexcept {
  static thread_local char this_threads_stream;
  if (stream == CU_STREAM_LEGACY) return nullptr;
  return stream == CU_STREAM_PER_THREAD ? reinterpret_cast<CUstream>(&this_threads_stream) : stream;
}

}  // namespace

LaunchId current_launch() noexcept { return this_threads_launch; }

std::uint64_t LaunchLog::number_of(CUstream stream) {
  std::lock_guard const lock(mutex_);
  return this->stream(stream).number;
}

void LaunchLog::add_stream(CUstream stream, bool waits_for_default) {
  std::lock_guard const lock(mutex_);
  streams_[stream] = {++last_number_, waits_for_default};
}

LaunchLog::StreamInfo LaunchLog::take_stream(CUstream stream) {
  std::lock_guard const lock(mutex_);
  StreamInfo const info = this->stream(stream);
  streams_.erase(canonical(stream));
  return info;
}

void LaunchLog::put_back(CUstream stream, StreamInfo info) {
  std::lock_guard const lock(mutex_);
  streams_[canonical(stream)] = info;
}

void LaunchLog::begin(CUstream stream, Launch const& launch) {
  Launch forgotten;  // closes its span, which may call layers, when the lock is given back
  std::lock_guard const lock(mutex_);
  StreamInfo const& on = this->stream(stream);
  auto const same = [&](Entry const& entry) { return entry.launch.stream == on.number; };
  if (static_cast<std::size_t>(std::ranges::count_if(entries_, same)) >= kMostPerStream) {
    auto const oldest = std::ranges::find_if(entries_, same);
    forgotten = std::move(oldest->launch);
    Forgotten& others = forgotten_[on.number];
    ++others.count;
    others.waits_for_default = oldest->waits_for_default;
    // One whose call has not returned is as the next that is accepted.
    others.accepted_at = std::max(others.accepted_at, oldest->accepted_at == 0 ? accepted_ + 1 : oldest->accepted_at);
    entries_.erase(oldest);
  }
  entries_.push_back({launch, on.waits_for_default, 0});
  entries_.back().launch.stream = on.number;
}

void LaunchLog::accept(LaunchId launch) {
  std::lock_guard const lock(mutex_);
  auto const found = std::ranges::find(entries_, launch, [](Entry const& entry) { return entry.launch.id; });
  if (found != entries_.end()) found->accepted_at = ++accepted_;
}

Launch LaunchLog::remove(LaunchId launch) {
  Launch removed;
  std::lock_guard const lock(mutex_);
  auto const found = std::ranges::find(entries_, launch, [](Entry const& entry) { return entry.launch.id; });
  if (found == entries_.end()) return removed;
  removed = std::move(found->launch);
  entries_.erase(found);
  return removed;
}

std::uint64_t LaunchLog::number_of(CUevent event) {
  if (event == nullptr) return 0;
  std::lock_guard const lock(mutex_);
  return this->event(event).number;
}

void LaunchLog::add_event(CUevent event) {
  std::lock_guard const lock(mutex_);
  events_[event] = {++last_event_, {}};
}

LaunchLog::EventInfo LaunchLog::take_event(CUevent event) {
  std::lock_guard const lock(mutex_);
  auto const node = events_.extract(event);
  return node.empty() ? EventInfo{} : node.mapped();
}

void LaunchLog::put_back(CUevent event, EventInfo info) {
  std::lock_guard const lock(mutex_);
  events_[event] = info;
}

LaunchLog::Mark LaunchLog::now() const {
  std::lock_guard const lock(mutex_);
  return accepted_;
}

void LaunchLog::record_event(CUevent event, CUstream stream, Mark mark) {
  std::lock_guard const lock(mutex_);
  this->event(event).mark = {this->stream(stream).number, mark};
}

std::vector<Launch> LaunchLog::complete_stream(CUstream stream, Mark mark) {
  std::lock_guard const lock(mutex_);
  std::uint64_t const number = this->stream(stream).number;
  return take(mark, [&](std::uint64_t of, bool waits_for_default) {
    return of == number || (number == 0 && waits_for_default);
  });
}

LaunchLog::EventMark LaunchLog::mark_of(CUevent event) const {
  std::lock_guard const lock(mutex_);
  auto const found = events_.find(event);
  return found == events_.end() ? EventMark{} : found->second.mark;
}

std::vector<Launch> LaunchLog::complete_event(EventMark const& mark) {
  std::lock_guard const lock(mutex_);
  return take(mark.mark, [&](std::uint64_t of, bool) { return of == mark.stream; });
}

std::vector<Launch> LaunchLog::complete_all(Mark mark) {
  std::lock_guard const lock(mutex_);
  return take(mark, [](std::uint64_t, bool) { return true; });
}

std::vector<Launch> LaunchLog::outstanding() const {
  std::vector<Launch> all;
  std::lock_guard const lock(mutex_);
  for (Entry const& entry : entries_) all.push_back(entry.launch);
  std::ranges::sort(all, {}, &Launch::id);
  return all;
}

std::uint64_t LaunchLog::forgotten() const {
  std::uint64_t sum = 0;
  std::lock_guard const lock(mutex_);
  for (auto const& [number, others] : forgotten_) sum += others.count;
  return sum;
}

LaunchLog::StreamInfo& LaunchLog::stream(CUstream stream) {
  auto const [place, is_new] = streams_.try_emplace(canonical(stream));
  if (is_new && canonical(stream) != nullptr) place->second.number = ++last_number_;
  return place->second;
}

LaunchLog::EventInfo& LaunchLog::event(CUevent event) {
  auto const [place, is_new] = events_.try_emplace(event);
  if (is_new) place->second.number = ++last_event_;
  return place->second;
}

template <class F>
std::vector<Launch> LaunchLog::take(Mark mark, F&& belongs) {
  std::vector<Launch> taken;
  std::erase_if(forgotten_, [&](auto const& of) {
    return of.second.accepted_at <= mark && belongs(of.first, of.second.waits_for_default);
  });
  std::erase_if(entries_, [&](Entry& entry) {
    if (entry.accepted_at == 0 || entry.accepted_at > mark) return false;
    if (!belongs(entry.launch.stream, entry.waits_for_default)) return false;
    taken.push_back(std::move(entry.launch));
    return true;
  });
  std::ranges::sort(taken, {}, &Launch::id);
  return taken;
}

namespace internal {

LaunchScope::LaunchScope() noexcept
    : id_(last_launch.fetch_add(1, std::memory_order_relaxed) + 1), outer_(std::exchange(this_threads_launch, id_)) {}
LaunchScope::~LaunchScope() { this_threads_launch = outer_; }

}  // namespace internal
}  // namespace tracing::inline v1::cuda
