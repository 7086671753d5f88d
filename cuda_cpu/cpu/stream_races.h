// StreamRaces finds work of two streams that touches the same memory without an order between.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cuda_cpu/executor/executor.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu::cpu {

/// A vector clock: for each stream, by its id, the number of the last work that is over before something begins.
using StreamClock = std::map<std::uint64_t, std::uint64_t>;

/// Adds what `other` knows to `clock`.
void merge(StreamClock& clock, StreamClock const& other);

/// A piece of work and what comes before it. Its own stream has its own number in `before`.
struct WorkOrder {
  std::uint64_t stream = 0;
  std::uint64_t number = 0;  // of the work in its stream, from 1
  StreamClock before;
};

/// The accesses of work whose order with later work is unknown. Thread-safe.
class StreamRaces {
 public:
  /// Adds work that has run. Returns "128 bytes at byte 0 of 256 bytes, which kernel f (launch 1) wrote" for the first
  /// memory that other work accessed, if one of the two wrote to it and nothing orders the two. `name`: "kernel g
  /// (launch 2)". `describe` says where memory is.
  template <class Describe>
  std::optional<std::string> add(WorkOrder const& order, std::string name, std::vector<AccessedRange> ranges,
                                 Describe const& describe) {
    auto const found = find(order, ranges);
    keep(order, std::move(name), std::move(ranges));
    if (!found) return std::nullopt;
    return describe(found->address, found->bytes) + ", which " + found->other + (found->wrote ? " wrote" : " read");
  }
  /// Forgets what was at the address of new memory.
  void forget(std::uintptr_t address, std::uint64_t bytes);

 private:
  static constexpr std::size_t kMaxKept = 256;  // pieces of work; older ones are forgotten

  struct Kept {
    WorkOrder order;
    std::string name;
    std::vector<AccessedRange> ranges;  // by address
  };
  struct Found {
    std::uintptr_t address = 0;
    std::uint64_t bytes = 0;
    std::string other;
    bool wrote = false;  // the other work wrote
  };

  std::optional<Found> find(WorkOrder const& order, std::vector<AccessedRange> const& ranges) const;
  void keep(WorkOrder const& order, std::string name, std::vector<AccessedRange> ranges);

  mutable tracing::support::Mutex mutex_;
  std::vector<Kept> kept_ TRACING_GUARDED_BY(mutex_);
};

}  // namespace cuda_cpu::cpu
