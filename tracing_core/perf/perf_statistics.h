// PerfTable: sums of perf spans. Each track has sums of its own, which are added up on demand.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <unordered_map>

#include "tracing_core/collect/per_track.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/perf/duration_sketch.h"
#include "tracing_core/perf/perf_summary.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace internal {

// The lock of all tables. Taken to read a table, and when a track meets a table or a callsite for the first time.
extern constinit UnseenMutex perf_mutex;

// The sums of one callsite on one track. Only the track's thread writes, without read-modify-write; other threads may
// read.
struct PerfCell {
  Metadata const* metadata = nullptr;
  Metadata const* completion = nullptr;  // metadata of the event that such a span emits when it ends
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> total_ns{0};
  std::atomic<std::uint64_t> self_ns{0};
  std::atomic<std::uint64_t> min_ns{~std::uint64_t{0}};
  std::atomic<std::uint64_t> max_ns{0};
  DurationSketch durations;

  void add(Timing const& timing) noexcept {
    auto const bump = [](std::atomic<std::uint64_t>& sum, std::uint64_t by) {
      sum.store(sum.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    };
    bump(count, 1);
    bump(total_ns, timing.duration_ns);
    bump(self_ns, timing.self_ns);
    if (timing.duration_ns < min_ns.load(std::memory_order_relaxed))
      min_ns.store(timing.duration_ns, std::memory_order_relaxed);
    if (timing.duration_ns > max_ns.load(std::memory_order_relaxed))
      max_ns.store(timing.duration_ns, std::memory_order_relaxed);
    durations.add(timing.duration_ns);
  }
};

// The cells of one track.
struct PerfTrack {
  PerfTrack* next = nullptr;
  std::array<PerfCell*, 64> recent{};  // by hash of the callsite; used by the track's thread alone
  std::unordered_map<Metadata const*, PerfCell> cells TRACING_GUARDED_BY(perf_mutex);

  PerfCell*& recent_of(Metadata const& metadata) noexcept {
    return recent[(reinterpret_cast<std::uintptr_t>(&metadata) >> 4) * 0x9E3779B97F4A7C15 >> 58];
  }
};

class PerfTable final : public PerfStatistics {
 public:
  PerfTable();

  PerfSummary summary() const override;

  // Returns the cell of a callsite on a track, or null if memory ran out. REQUIRES: `track` is the calling thread's
  // own.
  PerfCell* cell(Metadata const& metadata, Track const& track) noexcept {
    if (PerfTrack* const own = tracks_.own(track)) [[likely]] {
      PerfCell* const recent = own->recent_of(metadata);
      if (recent != nullptr && recent->metadata == &metadata) [[likely]]
        return recent;
    }
    return find_or_add_cell(metadata, track);
  }

 private:
  [[gnu::cold, gnu::noinline]] PerfCell* find_or_add_cell(Metadata const& metadata, Track const& track) noexcept;

  PerTrack<PerfTrack> tracks_;  // objects are added while perf_mutex is held
};

}}}  // namespace tracing::v1::internal
