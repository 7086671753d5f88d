#include "tracing_core/cuda/driver/launch_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <unordered_set>
#include <utility>

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::Mutex;
using tracing::support::MutexLock;

thread_local constinit LaunchId this_threads_launch = 0;
constinit std::atomic<LaunchId> last_launch{0};

// Returns one handle for each stream: the default stream has two handles, and CU_STREAM_PER_THREAD stands for a
// different stream on each thread.
CUstream canonical(CUstream stream) noexcept {
  static thread_local char this_threads_stream;
  if (stream == CU_STREAM_LEGACY) return nullptr;
  return stream == CU_STREAM_PER_THREAD ? reinterpret_cast<CUstream>(&this_threads_stream) : stream;
}

// Returns a copy of the text that is kept until the process ends: a Loss has names of kernels, and may outlive its
// driver.
std::string_view kept(std::string const& name) {
  struct Names {
    Mutex mutex;
    std::unordered_set<std::string> all TRACING_GUARDED_BY(mutex);  // a set that does not move its elements
  };
  static auto& names = *new Names;
  MutexLock const lock(names.mutex);
  return *names.all.insert(name).first;
}

}  // namespace

LaunchId current_launch() noexcept { return this_threads_launch; }

std::uint64_t LaunchLog::number_of(CUstream stream) {
  MutexLock const lock(mutex_);
  return stream_of(stream).launches.stream();
}

void LaunchLog::add_stream(CUstream stream, bool waits_for_default) {
  MutexLock const lock(mutex_);
  forget(stream);
  add(stream, ++last_stream_).waits_for_default = waits_for_default;
}

void LaunchLog::remove_stream(CUstream stream) {
  MutexLock const lock(mutex_);
  forget(canonical(stream));
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

void LaunchLog::add_kernel(CUfunction function, CUmodule module, std::string const& name) {
  std::string_view const its_name = kept(name);
  MutexLock const lock(mutex_);
  kernels_[function] = {module, its_name, false};
}

void LaunchLog::remove_kernels(CUmodule module) {
  MutexLock const lock(mutex_);
  last_kernel_ = nullptr;
  std::erase_if(kernels_, [&](auto const& kernel) { return kernel.second.module == module; });
}

std::string_view LaunchLog::name_of(CUfunction function) {
  MutexLock const lock(mutex_);
  return kernel_of(function).name;
}

LaunchLog::Names LaunchLog::names_of(CUfunction function, CUstream stream) {
  MutexLock const lock(mutex_);
  return {kernel_of(function).name, stream_of(stream).launches.stream()};
}

LaunchLog::Added LaunchLog::begin(CUfunction function, CUstream stream, LaunchRing::New const& launch, Span&& span,
                                  Span&& perf) {
  std::uint64_t const ticks = tracing::support::ticks_now();
  MutexLock lock(mutex_);
  Stream& on = stream_of(stream);
  Kernel& kernel = kernel_of(function);
  bool const is_full = on.launches.size() == kMaxPerStream;
  // Its spans are closed, which may call layers, after the lock is released. A full ring that has spans does not
  // allocate.
  LaunchRing::Spans const oldest = is_full ? on.launches.pop() : LaunchRing::Spans();
  if (is_full) ++on.forgotten;
  on.launches.push(launch, kernel.name, ticks, std::move(span), std::move(perf));
  bool const is_first = !std::exchange(kernel.was_launched, true);
  lock.unlock();
  return {&on, launch.id, is_first};
}

void LaunchLog::accept(Added const& added) {
  MutexLock const lock(mutex_);
  added.stream->launches.accept(added.launch, ++accepted_);
}

Launch LaunchLog::remove(Added const& added) {
  MutexLock const lock(mutex_);
  return added.stream->launches.remove(added.launch);
}

LaunchLog::Mark LaunchLog::now() const {
  MutexLock const lock(mutex_);
  return accepted_;
}

void LaunchLog::record_event(CUevent event, CUstream stream, Mark mark) {
  MutexLock const lock(mutex_);
  info_of(event).mark = {stream_of(stream).launches.stream(), mark};
}

LaunchLog::EventMark LaunchLog::mark_of(CUevent event) const {
  MutexLock const lock(mutex_);
  auto const found = events_.find(event);
  return found == events_.end() ? EventMark{} : found->second.mark;
}

std::vector<Launch> LaunchLog::complete_stream(CUstream stream, Mark mark, Completed which) {
  MutexLock const lock(mutex_);
  std::uint64_t const number = stream_of(stream).launches.stream();
  return complete(mark, which, [&](Stream const& one) {
    return one.launches.stream() == number || (number == 0 && one.waits_for_default);
  });
}

std::vector<Launch> LaunchLog::complete_event(EventMark const& mark, Completed which) {
  MutexLock const lock(mutex_);
  return complete(mark.mark, which, [&](Stream const& one) { return one.launches.stream() == mark.stream; });
}

std::vector<Launch> LaunchLog::complete_all(Mark mark, Completed which) {
  MutexLock const lock(mutex_);
  return complete(mark, which, [](Stream const&) { return true; });
}

std::vector<Launch> LaunchLog::outstanding() const {
  std::vector<Launch> all;
  MutexLock const lock(mutex_);
  std::size_t count = 0;
  for (auto const& stream : all_streams_) count += stream->launches.size();
  all.reserve(count);
  visit([&](Launch const& launch) { all.push_back(launch); });
  std::ranges::sort(all, {}, &Launch::id);
  return all;
}

std::uint64_t LaunchLog::forgotten() const {
  std::uint64_t sum = 0;
  MutexLock const lock(mutex_);
  for (auto const& stream : all_streams_) sum += stream->forgotten;
  return sum;
}

LaunchLog::Stream& LaunchLog::stream_of(CUstream handle) {
  handle = canonical(handle);
  if (last_used_ != nullptr && last_handle_ == handle) return *last_used_;
  auto const found = streams_.find(handle);
  Stream& stream = found != streams_.end() ? *found->second : add(handle, handle == nullptr ? 0 : ++last_stream_);
  last_handle_ = handle;
  last_used_ = &stream;
  return stream;
}

LaunchLog::Stream& LaunchLog::add(CUstream handle, std::uint64_t number) {
  auto const is_free = [](auto const& one) {
    return one->is_destroyed && one->launches.size() == 0 && one->forgotten == 0;
  };
  auto found = std::ranges::find_if(all_streams_, is_free);
  if (found == all_streams_.end()) {
    all_streams_.push_back(std::make_unique<Stream>(number));
    found = std::prev(all_streams_.end());
  } else {
    **found = Stream(number);
  }
  streams_[handle] = found->get();
  return **found;
}

void LaunchLog::forget(CUstream handle) {
  auto const found = streams_.find(handle);
  if (found == streams_.end()) return;
  if (found->second == last_used_) last_used_ = nullptr;
  found->second->is_destroyed = true;
  streams_.erase(found);
}

LaunchLog::EventInfo& LaunchLog::info_of(CUevent event) {
  auto const [place, is_new] = events_.try_emplace(event);
  if (is_new) place->second.number = ++last_event_;
  return place->second;
}

LaunchLog::Kernel& LaunchLog::kernel_of(CUfunction function) {
  if (last_kernel_ != nullptr && last_function_ == function) return *last_kernel_;
  auto found = kernels_.find(function);
  if (found == kernels_.end()) {
    std::string const name = fmt::format("the function at {}", static_cast<void const*>(function));
    found = kernels_.emplace(function, Kernel{nullptr, kept(name), false}).first;
  }
  last_function_ = function;
  last_kernel_ = &found->second;
  return *last_kernel_;
}

template <class F>
std::vector<Launch> LaunchLog::complete(Mark mark, Completed which, F&& belongs) {
  std::vector<Launch> completed;
  for (auto const& stream : all_streams_) {
    if (stream->launches.size() == 0 || !belongs(*stream)) continue;
    // The launches of a stream end in order, so the launches that are only counted ended before.
    if (stream->launches.remove_up_to(mark, which == Completed::all, completed) > 0) stream->forgotten = 0;
  }
  if (!std::ranges::is_sorted(completed, {}, &Launch::id)) std::ranges::sort(completed, {}, &Launch::id);
  return completed;
}

namespace internal {

LaunchScope::LaunchScope() noexcept
    : id_(this_threads_launch != 0 ? this_threads_launch : last_launch.fetch_add(1, std::memory_order_relaxed) + 1),
      outer_(std::exchange(this_threads_launch, id_)) {}
LaunchScope::~LaunchScope() { this_threads_launch = outer_; }

}  // namespace internal
}}}  // namespace tracing::v1::cuda
