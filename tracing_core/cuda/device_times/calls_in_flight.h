// CallsInFlight: the calls that gave devices work whose times have not been read yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "tracing_core/cuda/activity.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

/// Keeps calls by the number that CUPTI gives to a call and to the records of its work. Keeps the spans of these calls
/// open. At most kMaxCalls: a further call is not kept, and its work appears without its call. Thread-safe.
class CallsInFlight {
 public:
  static constexpr std::size_t kMaxCalls = 1 << 16;

  struct Found {
    DeviceCall call;
    bool is_graph = false;
  };

  void add(std::uint32_t number, DeviceCall call, bool is_graph);
  /// Removes a call that was refused.
  void remove(std::uint32_t number);
  /// Returns the call of a record. Removes it unless it launched a graph, whose records may be many.
  std::optional<Found> find(std::uint32_t number);
  /// Removes all calls that were added before `mark`, since their work has ended.
  void remove_before(std::uint64_t mark);
  /// Returns a mark after the calls added until now.
  std::uint64_t mark() const;
  bool is_empty() const;

 private:
  struct Kept {
    DeviceCall call;
    bool is_graph = false;
    std::uint64_t added = 0;
  };
  mutable tracing::support::Mutex mutex_;
  std::unordered_map<std::uint32_t, Kept> calls_ TRACING_GUARDED_BY(mutex_);
  std::uint64_t added_ TRACING_GUARDED_BY(mutex_) = 0;
};

}}}}  // namespace tracing::v1::cuda::internal
