// Mbarrier is the value of an mbarrier in shared memory. Kernels must not look into it, so its layout is our choice.
#pragma once

#include <cstdint>

#include "cuda_cpu/executor/steps/map.h"

namespace cuda_cpu {

struct Mbarrier {
  static constexpr U32 kMaxCount = (1 << 20) - 1;

  U32 pending = 0;      // arrivals that the current phase waits for
  U32 expected = 0;     // arrivals of each phase; zero: not initialized
  std::int32_t tx = 0;  // bytes that the current phase waits for; may be negative
  U32 phase = 0;        // counts modulo 8

  static Mbarrier of(U64 bits) noexcept {
    return {static_cast<U32>(bits) & kMaxCount, static_cast<U32>(bits >> 20) & kMaxCount,
            static_cast<std::int32_t>(static_cast<U32>(bits >> 40 << 11)) >> 11, static_cast<U32>(bits >> 61)};
  }
  U64 bits() const noexcept {
    return U64{pending} | U64{expected} << 20 | U64{static_cast<U32>(tx) & 0x1fffff} << 40 | U64{phase} << 61;
  }
  /// Begins the next phase if all arrivals and bytes of this phase have come.
  void complete() noexcept {
    if (pending != 0 || tx != 0) return;
    pending = expected;
    phase = (phase + 1) & 7;
  }
};

/// Changes the mbarrier at the step's address by `change`, which returns null, or the reason why the mbarrier must not
/// be changed. Returns false after a fault.
template <class Change>
bool change_mbarrier(Warp& warp, Step const& step, unsigned lane, Change const& change) {
  auto* const place = warp.block.resolve_shared(warp, step, lane, sizeof(U64));
  if (place == nullptr) return false;
  U64& bits = *reinterpret_cast<U64*>(place);
  Mbarrier barrier = Mbarrier::of(bits);
  char const* const why = barrier.expected == 0 ? "an mbarrier that is not initialized" : change(barrier);
  if (why != nullptr) return warp.block.fail(warp, step, Mask{1} << lane, FaultKind::barrier, why);
  bits = barrier.bits();
  return true;
}

/// Adds to the bytes that the phase waits for.
inline char const* add_bytes(Mbarrier& barrier, std::int64_t bytes) noexcept {
  std::int64_t const sum = barrier.tx + bytes;
  if (sum > std::int64_t{Mbarrier::kMaxCount} || -sum > std::int64_t{Mbarrier::kMaxCount})
    return "an mbarrier that waits for more than 1048575 bytes";
  barrier.tx = static_cast<std::int32_t>(sum);
  return nullptr;
}

/// Counts arrivals.
inline char const* count_arrivals(Mbarrier& barrier, U32 count) noexcept {
  if (count == 0 || count > barrier.pending) return "more arrivals at an mbarrier than it expects";
  barrier.pending -= count;
  return nullptr;
}

}  // namespace cuda_cpu
