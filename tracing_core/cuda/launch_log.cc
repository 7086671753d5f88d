#include "tracing_core/cuda/launch_log.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

namespace tracing::inline v1::cuda {
namespace {

using tracing::internal::MutexLock;

thread_local constinit LaunchId this_threads_launch = 0;
constinit std::atomic<LaunchId> last_launch{0};

// One handle for each stream: the default stream has two, and CU_STREAM_PER_THREAD is another stream on each thread.
CUstream canonical(CUstream stream) noexcept {
  static thread_local char this_threads_stream;
  if (stream == CU_STREAM_LEGACY) return nullptr;
  return stream == CU_STREAM_PER_THREAD ? reinterpret_cast<CUstream>(&this_threads_stream) : stream;
}

}  // namespace

LaunchId current_launch() noexcept { return this_threads_launch; }

std::uint64_t LaunchLog::number_of(CUstream stream) {
  MutexLock const lock(mutex_);
  return info_of(stream).number;
}

void LaunchLog::add_stream(CUstream stream, bool waits_for_default) {
  MutexLock const lock(mutex_);
  streams_[stream] = {++last_stream_, waits_for_default};
}

void LaunchLog::remove_stream(CUstream stream) {
  MutexLock const lock(mutex_);
  streams_.erase(canonical(stream));
}

std::uint64_t LaunchLog::number_of(CUevent event) {
  if (event == nullptr) return 0;
  MutexLock const lock(mutex_);
  return info_of(event).number;
}

void LaunchLog::remove_event(CUevent event) {
  MutexLock const lock(mutex_);
  events_.erase(event);
}

void LaunchLog::begin(CUstream stream, Launch const& launch) {
  Launch forgotten;  // its span is closed, which may call layers, after the lock is released
  MutexLock const lock(mutex_);
  StreamInfo const& on = info_of(stream);
  Counts& counts = counts_[on.number];
  if (counts.outstanding == kMaxPerStream) {
    auto const same = [&](Entry const& entry) { return entry.launch.stream == on.number; };
    auto const oldest = std::ranges::find_if(entries_, same);
    forgotten = std::move(oldest->launch);
    entries_.erase(oldest);
    ++counts.forgotten;
  } else {
    ++counts.outstanding;
  }
  entries_.push_back({launch, on.waits_for_default, 0});
  entries_.back().launch.stream = on.number;
}

void LaunchLog::accept(LaunchId launch) {
  MutexLock const lock(mutex_);
  auto const found = find(launch);
  if (found != entries_.end()) found->accepted_at = ++accepted_;
}

Launch LaunchLog::remove(LaunchId launch) {
  Launch removed;
  MutexLock const lock(mutex_);
  auto const found = find(launch);
  if (found == entries_.end()) return removed;
  removed = std::move(found->launch);
  entries_.erase(found);
  auto const counts = counts_.find(removed.stream);
  if (--counts->second.outstanding == 0 && counts->second.forgotten == 0) counts_.erase(counts);
  return removed;
}

LaunchLog::Mark LaunchLog::now() const {
  MutexLock const lock(mutex_);
  return accepted_;
}

void LaunchLog::record_event(CUevent event, CUstream stream, Mark mark) {
  MutexLock const lock(mutex_);
  info_of(event).mark = {info_of(stream).number, mark};
}

LaunchLog::EventMark LaunchLog::mark_of(CUevent event) const {
  MutexLock const lock(mutex_);
  auto const found = events_.find(event);
  return found == events_.end() ? EventMark{} : found->second.mark;
}

std::vector<Launch> LaunchLog::complete_stream(CUstream stream, Mark mark) {
  MutexLock const lock(mutex_);
  std::uint64_t const number = info_of(stream).number;
  return complete(mark, [&](Entry const& entry) {
    return entry.launch.stream == number || (number == 0 && entry.waits_for_default);
  });
}

std::vector<Launch> LaunchLog::complete_event(EventMark const& mark) {
  MutexLock const lock(mutex_);
  return complete(mark.mark, [&](Entry const& entry) { return entry.launch.stream == mark.stream; });
}

std::vector<Launch> LaunchLog::complete_all(Mark mark) {
  MutexLock const lock(mutex_);
  return complete(mark, [](Entry const&) { return true; });
}

std::vector<Launch> LaunchLog::outstanding() const {
  std::vector<Launch> all;
  MutexLock const lock(mutex_);
  for (Entry const& entry : entries_) all.push_back(entry.launch);
  std::ranges::sort(all, {}, &Launch::id);
  return all;
}

std::uint64_t LaunchLog::forgotten() const {
  std::uint64_t sum = 0;
  MutexLock const lock(mutex_);
  for (auto const& [stream, counts] : counts_) sum += counts.forgotten;
  return sum;
}

// From the newest: mostly it is the one that was just added.
std::deque<LaunchLog::Entry>::iterator LaunchLog::find(LaunchId launch) {
  auto const found = std::find_if(entries_.rbegin(), entries_.rend(),
                                  [&](Entry const& entry) { return entry.launch.id == launch; });
  return found == entries_.rend() ? entries_.end() : std::prev(found.base());
}

LaunchLog::StreamInfo& LaunchLog::info_of(CUstream stream) {
  auto const [place, is_new] = streams_.try_emplace(canonical(stream));
  if (is_new && canonical(stream) != nullptr) place->second.number = ++last_stream_;
  return place->second;
}

LaunchLog::EventInfo& LaunchLog::info_of(CUevent event) {
  auto const [place, is_new] = events_.try_emplace(event);
  if (is_new) place->second.number = ++last_event_;
  return place->second;
}

template <class F>
std::vector<Launch> LaunchLog::complete(Mark mark, F&& belongs) {
  std::vector<Launch> completed;
  std::erase_if(entries_, [&](Entry& entry) {
    if (entry.accepted_at == 0 || entry.accepted_at > mark || !belongs(entry)) return false;
    completed.push_back(std::move(entry.launch));
    return true;
  });
  // The launches of a stream end in their order, so those that are only counted ended before.
  for (Launch const& launch : completed) {
    auto const counts = counts_.find(launch.stream);
    counts->second.forgotten = 0;
    if (--counts->second.outstanding == 0) counts_.erase(counts);
  }
  std::ranges::sort(completed, {}, &Launch::id);
  return completed;
}

namespace internal {

LaunchScope::LaunchScope() noexcept
    : id_(last_launch.fetch_add(1, std::memory_order_relaxed) + 1), outer_(std::exchange(this_threads_launch, id_)) {}
LaunchScope::~LaunchScope() { this_threads_launch = outer_; }

}  // namespace internal
}  // namespace tracing::inline v1::cuda
