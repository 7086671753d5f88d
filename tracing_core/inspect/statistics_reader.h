// StatisticsReader: makes Statistics of recordings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracing_core/filter/filter.h"
#include "tracing_core/inspect/statistics_sums.h"
#include "tracing_core/record/reader.h"

namespace tracing::inline v1::internal {

/// The recording of a process.
struct StatisticsSource {
  explicit StatisticsSource(Recording& from) : recording(from) {}

  Recording& recording;
  std::unique_ptr<Filter> filter{};                // null: everything
  std::function<void(RecordEntry const&)> each{};  // is called for each record. Null: nothing
  // The test of the records with this tag; empty: outside of any; none: they are left out. Null: there are no tests.
  std::function<std::optional<std::string>(std::uint32_t tag)> test_of{};
};

/// Single-thread.
class StatisticsReader {
 public:
  explicit StatisticsReader(StatisticsBy by) : by_(by) {}

  void add(StatisticsSource source);
  /// Of all that was added, in the order of self times.
  Statistics finish();

 private:
  friend class StatisticsLayer;
  GroupSums& group(std::string const& name);

  StatisticsBy const by_;
  std::vector<std::string> names_;  // of groups, in the order of their first record
  std::unordered_map<std::string, GroupSums> groups_;
  // What the event `found kernel` says of each kernel.
  struct KernelFacts {
    std::optional<std::uint64_t> registers;
    std::uint64_t shared_bytes = 0;  // without what a launch asks for
  };
  std::unordered_map<std::string, KernelFacts> kernel_facts_;
};

}  // namespace tracing::inline v1::internal
