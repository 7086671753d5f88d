// The sums that Statistics are made of, while recordings are read.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "tracing_core/inspect/statistics.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/perf/duration_sketch.h"

namespace tracing::inline v1::internal {

class DurationSum {
 public:
  // `total_ns`: what of it is not in the total yet.
  void add(std::uint64_t ns, std::uint64_t total_ns) noexcept;
  DurationStatistics statistics() const noexcept;

 private:
  std::uint64_t calls_ = 0;
  std::uint64_t sum_ns_ = 0;
  std::uint64_t total_ns_ = 0;
  std::uint64_t min_ns_ = ~std::uint64_t{0};
  std::uint64_t max_ns_ = 0;
  DurationSketch durations_;
};

struct SpanSum {
  DurationSum time;
  std::uint64_t self_ns = 0;
  std::uint64_t open = 0;
  std::uint64_t cut = 0;
};

struct KernelKey {
  std::string name;
  std::string grid{};
  std::string block{};
  std::optional<std::uint64_t> shared_bytes{};
  friend bool operator==(KernelKey const&, KernelKey const&) = default;
  friend auto operator<=>(KernelKey const&, KernelKey const&) = default;
};
struct KernelSum {
  std::uint64_t requests = 0;  // calls by the host
  DurationSum time;            // of what the device reported
  std::uint64_t requested_bytes = 0;
  std::uint64_t moved_bytes = 0;
  std::optional<std::uint64_t> registers;
};

// What is allocated in one memory, by one span or by all.
struct MemorySum {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t now_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t kept_bytes = 0;

  void allocate(std::uint64_t count) noexcept;
  void free(std::uint64_t count) noexcept { now_bytes -= count; }
  // The recording of a process ends.
  void end() noexcept;
};

struct GroupSums {
  std::map<std::string, SpanSum> spans{};
  std::unordered_map<Metadata const*, SpanSum*> spans_by_site{};  // of the recording that is read
  std::map<KernelKey, KernelSum> kernels{};
  std::map<std::string, CompileStatistics> compiles{};
  std::map<std::pair<std::string, std::string>, MemorySum> memory{};  // by memory and span, which is empty for all

  SpanSum& span(Metadata const& metadata);
};

}  // namespace tracing::inline v1::internal
