// StatisticsLayer: adds up the replay of one recording in StatisticsSums.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tracing_core/collect/layer.h"
#include "tracing_core/inspect/entered_stacks.h"
#include "tracing_core/inspect/statistics_sums.h"
#include "tracing_core/record/entry.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Adds up one recording. Single-thread.
class StatisticsLayer final : public Layer {
 public:
  /// `now`: the record that is being replayed. `last`: the time of the last record, at which the replay leaves the
  /// spans that are still open.
  StatisticsLayer(StatisticsSums& sums, TestOfTag const& test_of, recording::Entry const& now, Instant last)
      : sums_(sums), test_of_(test_of), now_(now), last_(last) {}

  /// Completes the sums of the recording. Call it after the replay.
  void finish();

  Hooks hooks() const noexcept override { return Hooks::new_span | Hooks::enter | Hooks::exit | Hooks::event; }
  void on_new_span(SpanRef span, NewSpan const& values, Context const& context) noexcept override;
  void on_enter(SpanRef span, Context const& context) noexcept override;
  void on_exit(SpanRef span, Context const& context) noexcept override;
  void on_event(Event const& event, Context const& context) noexcept override;

 private:
  struct Call {
    GroupSums* group;  // null: the selection leaves it out
    SpanSum* sum;      // null for a span of a device
    std::uint32_t tag;
  };
  struct Allocation {
    std::uint64_t bytes;
    MemorySum* of_span;
    MemorySum* of_all;
  };

  std::uint32_t tag_on(Track const& track);
  GroupSums* group_of(std::uint32_t tag, Track const& track, std::string_view target);
  void add_device(GroupSums& group, SpanRef span, std::uint64_t ns);
  void add_request(GroupSums& group, SpanRef span);
  void add_compile(GroupSums& group, SpanRef span);
  void add_kernel_facts(FieldValues const& fields);
  void add_allocation(GroupSums& group, SpanRef span, void const* pointer);
  void free(void const* pointer);

  StatisticsSums& sums_;
  TestOfTag const& test_of_;
  recording::Entry const& now_;
  Instant const last_;
  recording::EnteredStacks<Call> stacks_;
  std::map<std::pair<std::uint64_t, SpanSum const*>, std::uint64_t> inside_;  // open calls by track and sum
  std::unordered_map<std::uint32_t, std::optional<std::string>> tests_;       // by tag
  std::map<void const*, Allocation> allocations_;
};

}}}  // namespace tracing::v1::internal
