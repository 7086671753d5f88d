// StatisticsSums: the sums that Statistics are made from, while recordings are read.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/inspect/statistics.h"
#include "tracing_core/model/metadata.h"
#include "tracing_core/perf/duration_sketch.h"

namespace tracing { inline namespace v1 { namespace internal {

class DurationSum {
 public:
  // Adds a call. `total_ns`: the part of `ns` that is not in the total yet.
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
  DurationSum time;            // as reported by the device
  std::uint64_t requested_bytes = 0;
  std::uint64_t moved_bytes = 0;
  std::optional<std::uint64_t> registers;
};

// Adds up allocations in one memory, by one span or by all spans.
struct MemorySum {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t now_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t kept_bytes = 0;

  void allocate(std::uint64_t count) noexcept;
  void free(std::uint64_t count) noexcept { now_bytes -= count; }
  // Ends the recording of a process: bytes that are still allocated count as kept.
  void end() noexcept;
};

struct GroupSums {
  std::map<std::string, SpanSum> spans{};
  std::unordered_map<Metadata const*, SpanSum*> spans_by_site{};  // for the recording that is being read
  std::map<KernelKey, KernelSum> kernels{};
  std::map<std::string, CompileStatistics> compiles{};
  std::map<std::pair<std::string, std::string>, MemorySum> memory{};  // by memory and span, which is empty for all

  SpanSum& span(Metadata const& metadata);
  // Takes back the count of a launch.
  void forget_launch(KernelKey const& kernel);
};

// Returns the test of the records with a tag: an empty name if they are outside any test, nothing to leave them out.
using TestOfTag = std::function<std::optional<std::string>(std::uint32_t tag)>;

// The sums of all groups.
struct StatisticsSums {
  // The facts that the event `found kernel` gives about a kernel.
  struct KernelFacts {
    std::optional<std::uint64_t> registers;
    std::uint64_t shared_bytes = 0;  // without the bytes that a launch asks for
  };

  StatisticsBy by;
  std::vector<std::string> names{};  // of groups, in the order of their first record
  std::unordered_map<std::string, GroupSums> groups{};
  std::unordered_map<std::string, KernelFacts> kernel_facts{};

  // Returns the sums of a group, which is added if it is new.
  GroupSums& group(std::string const& name);
};

}}}  // namespace tracing::v1::internal
