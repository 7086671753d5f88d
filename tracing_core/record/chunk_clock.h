// ChunkClock: turns the ticks of a chunk's records into times.
//
// A chunk has its own clock, so what is printed live and what a reader prints later have the same times, however exactly
// the rate of the processor's counter is known in between.
#pragma once

#include <cstdint>

#include "tracing_core/internal/span_clock.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1::internal {

struct ChunkClock {
  std::uint64_t ticks = 0;        ///< of one moment
  std::int64_t ns = 0;            ///< of that moment, since 1970
  std::uint64_t ns_per_tick = 0;  ///< times 2^32

  /// The time of ticks_now(), modulo 2^64 ns.
  Instant time_of(std::uint64_t moment) const noexcept {
    __extension__ using Wide = __int128;
    auto const since = static_cast<std::int64_t>(moment - ticks);
    auto const elapsed = static_cast<std::uint64_t>(Wide{since} * static_cast<std::int64_t>(ns_per_tick) >> 32);
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + elapsed)};
  }
};

/// A clock of now, and for how many ticks it is exact: to about a microsecond, although the rate is known only as
/// exactly as the time since start_span_clock() allows.
struct NewChunkClock {
  ChunkClock clock;
  std::uint64_t exact_ticks;
};
NewChunkClock read_chunk_clock() noexcept;

}  // namespace tracing::inline v1::internal
