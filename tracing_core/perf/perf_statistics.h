// Declares PerfTable, the running sums of perf spans: each thread has its own, which are added up when somebody asks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/perf/perf_layer.h"

namespace tracing::inline v1::internal {

// What one thread knows of one callsite. Only its thread writes, and without read-modify-write; others read.
struct PerfCell {
  Metadata const* metadata = nullptr;
  Metadata const* completion = nullptr;  // what is emitted when such a span ends
  std::uint32_t name = 0;
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> total_ns{0};
  std::atomic<std::uint64_t> self_ns{0};
  std::atomic<std::uint64_t> min_ns{~std::uint64_t{0}};
  std::atomic<std::uint64_t> max_ns{0};
  DurationSketch durations;
  PerfCell* next = nullptr;  // of the same thread

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

// The cells of one thread, found by callsite. A thread that ends leaves them to another.
struct PerfThread {
  std::atomic<PerfCell*> first{nullptr};
  PerfThread* next = nullptr;
  bool retired = false;
  // Of the thread alone:
  PerfCell* last = nullptr;  // the one found last
  std::vector<PerfCell*> places;  // a power of two of them, half of which are free; by the callsite's address
  std::size_t used = 0;

  PerfCell* find(Metadata const& metadata) noexcept {
    if (last != nullptr && last->metadata == &metadata) [[likely]] return last;
    if (places.empty()) return nullptr;
    for (std::size_t at = hash(metadata);; ++at) {
      PerfCell* const cell = places[at & (places.size() - 1)];
      if (cell == nullptr) return nullptr;
      if (cell->metadata == &metadata) return last = cell;
    }
  }
  std::size_t hash(Metadata const& metadata) const noexcept {
    return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(&metadata) >> 4) * 0x9E3779B97F4A7C15 >> 32);
  }
  void insert(PerfCell& cell);
};

struct CachedPerfThread {
  std::uint64_t table = 0;
  PerfThread* thread = nullptr;
};
extern constinit thread_local CachedPerfThread cached_perf_thread;

class PerfTable final : public PerfStatistics {
 public:
  explicit PerfTable(std::size_t most_names);
  ~PerfTable() override;

  PerfSummary summary() const override;

  // The calling thread's cell; null where memory ran out.
  PerfCell* cell(Metadata const& metadata) noexcept {
    CachedPerfThread const& cached = cached_perf_thread;
    if (cached.table == number_) [[likely]] {
      if (PerfCell* const found = cached.thread->find(metadata)) [[likely]] return found;
    }
    return find_cell(metadata);
  }

  // The thread of `thread` ended. REQUIRES: the lock of all tables is held.
  static void retire(PerfThread& thread) noexcept { thread.retired = true; }
  std::uint64_t number() const noexcept { return number_; }

 private:
  [[gnu::cold, gnu::noinline]] PerfCell* find_cell(Metadata const& metadata) noexcept;
  PerfThread& this_thread();
  std::uint32_t number_of(std::string_view name);

  std::uint64_t const number_;  // never used again
  std::size_t const most_names_;
  // Guarded by the lock of all tables:
  PerfThread* threads_ = nullptr;
  std::vector<std::string_view> names_;  // the first is that of the others
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace tracing::inline v1::internal
