// PerfTable: sums of perf spans. Each track has sums of its own, which are added up on demand.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "tracing_core/collect/per_track.h"
#include "tracing_core/internal/mutex.h"
#include "tracing_core/perf/perf_layer.h"

namespace tracing::inline v1::internal {

// One lock for all tables: taken to read them, and when a track meets a table or a callsite for the first time.
extern constinit UnseenMutex perf_mutex;

// Sorts the rows by self time and sets their shares.
void sort_and_set_shares(PerfSummary& summary);

// The sums of one callsite on one track. Only its thread writes, without read-modify-write; others may read.
struct PerfCell {
  Metadata const* metadata = nullptr;
  Metadata const* completion = nullptr;  // of the event that is emitted when such a span ends
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

  // The cell of the track, which must be the calling thread's own; null if memory ran out.
  PerfCell* cell(Metadata const& metadata, Track const& track) noexcept {
    if (PerfTrack* const own = tracks_.own(track)) [[likely]] {
      PerfCell* const recent = own->recent_of(metadata);
      if (recent != nullptr && recent->metadata == &metadata) [[likely]] return recent;
    }
    return find_or_add_cell(metadata, track);
  }

 private:
  [[gnu::cold, gnu::noinline]] PerfCell* find_or_add_cell(Metadata const& metadata, Track const& track) noexcept;

  PerTrack<PerfTrack> tracks_;  // objects are added while perf_mutex is held
};

// Appends members to the JSON object of a span that ended, or of an event inside it, on a track.
using AppendPerfMembers = std::function<void(TextBuffer& line, SpanRef span, Track const& track)>;

// As perf_layer(), with sums that several layers may share.
PerfLayer perf_layer(PerfOptions options, std::shared_ptr<PerfTable> table, std::vector<ParseError>* errors,
                     AppendPerfMembers append_members = {});

}  // namespace tracing::inline v1::internal
