#include "tracing_core/cuda/device_times/calls_in_flight.h"

#include <utility>
#include <vector>

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

using tracing::support::MutexLock;

// A span that is dropped may close, and layers then do as they like. So spans are dropped after the mutex is unlocked.

void CallsInFlight::add(std::uint32_t number, DeviceCall call, bool is_graph) {
  MutexLock const lock(mutex_);
  ++added_;
  if (calls_.size() < kMaxCalls) calls_.insert_or_assign(number, Kept{std::move(call), is_graph, added_});
}

void CallsInFlight::remove(std::uint32_t number) {
  decltype(calls_)::node_type removed;
  MutexLock const lock(mutex_);
  removed = calls_.extract(number);
}

std::optional<CallsInFlight::Found> CallsInFlight::find(std::uint32_t number) {
  MutexLock const lock(mutex_);
  auto const at = calls_.find(number);
  if (at == calls_.end()) return std::nullopt;
  if (at->second.is_graph) return Found{at->second.call, true};
  Found found{std::move(at->second.call), false};
  calls_.erase(at);
  return found;
}

void CallsInFlight::remove_before(std::uint64_t mark) {
  std::vector<Kept> removed;
  MutexLock const lock(mutex_);
  for (auto at = calls_.begin(); at != calls_.end();) {
    if (at->second.added > mark) {
      ++at;
      continue;
    }
    removed.push_back(std::move(at->second));
    at = calls_.erase(at);
  }
}

std::uint64_t CallsInFlight::mark() const {
  MutexLock const lock(mutex_);
  return added_;
}

bool CallsInFlight::is_empty() const {
  MutexLock const lock(mutex_);
  return calls_.empty();
}

}}}}  // namespace tracing::v1::cuda::internal
