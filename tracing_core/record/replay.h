// replay(): feeds a recording to a subscriber, as if it happened again.
#pragma once

#include <type_traits>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/record/reader.h"

namespace tracing::inline v1::internal {

/// How spans whose beginning was overwritten reach the subscriber: as entered before, only as context of other records, or
/// as entered where the records of their track begin. Spans that are left where later records are missing end
/// with the last record before. Entries that are context of others none the less, such as those from before
/// Recording::start_at(), have no end that is shown.
enum class LostEntries : bool { restored, shown };

/// Which times records have: those that were recorded, or those of SteadyTimes, for sums of durations.
enum class ReplayTimes : bool { recorded, steady };

void replay_selected(Recording& recording, Subscriber& to, bool (*select)(void* context, RecordEntry const& entry),
                     void* context, LostEntries lost, ReplayTimes times);

/// Each record has its own track and time. `select(RecordEntry const&)` is called for all, also for those that restate what
/// was before. Records that it rejects, and what was lost, are replayed only as context of others and marked as restored,
/// so that layers print nothing for them. Spans that are open at the end are closed, marked as restored. Records that layers
/// of `to` emit meanwhile are dropped.
template <class F>
void replay(Recording& recording, Subscriber& to, F&& select, LostEntries lost = LostEntries::restored,
            ReplayTimes times = ReplayTimes::recorded) {
  using Function = std::remove_reference_t<F>;
  replay_selected(
      recording, to,
      [](void* context, RecordEntry const& entry) -> bool { return (*static_cast<Function*>(context))(entry); },
      const_cast<void*>(static_cast<void const*>(&select)), lost, times);
}

}  // namespace tracing::inline v1::internal
