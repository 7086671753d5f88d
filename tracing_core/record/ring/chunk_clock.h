// ChunkClock: turns the ticks of a chunk's records into times.
//
// Each chunk has its own clock, so that live lines and lines that a reader prints later have equal times, although the
// rate of the processor's counter becomes known more exactly in between.
#pragma once

#include <cstdint>

#include "tracing_core/model/instant.h"
#include "tracing_core/support/span_clock.h"

namespace tracing { inline namespace v1 { namespace internal {

struct ChunkClock {
  std::uint64_t ticks = 0;        ///< the counter when `ns` was read
  std::int64_t ns = 0;            ///< the wall clock, since 1970
  std::uint64_t ns_per_tick = 0;  ///< times 2^32

  /// Turns a value of ticks_now() into a time, modulo 2^64 ns.
  Instant time_of(std::uint64_t moment) const noexcept {
    __extension__ using Wide = __int128;
    auto const since = static_cast<std::int64_t>(moment - ticks);
    auto const elapsed = static_cast<std::uint64_t>(Wide{since} * static_cast<std::int64_t>(ns_per_tick) >> 32);
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + elapsed)};
  }
};

/// A clock that begins now, and for how many ticks it is exact to about a microsecond. The rate is known the better,
/// the longer start_span_clock() was ago.
struct NewChunkClock {
  ChunkClock clock;
  std::uint64_t exact_ticks;
};
NewChunkClock read_chunk_clock() noexcept;

}}}  // namespace tracing::v1::internal
