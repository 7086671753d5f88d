// replay(): feeds a recording to a subscriber, as if it happened again.
#pragma once

#include <type_traits>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace recording {

/// How spans whose beginning was overwritten reach the subscriber:
///
/// * restored: as entered before, only as context of other records
/// * shown: as entered where the records of their track begin
///
/// A span that was left while records are missing ends with the last record before the gap. The end of a span that is
/// only context, such as a span from before Recording::start_at(), is not shown.
enum class LostEntries : bool { restored, shown };

/// The times that records have: as recorded, or without steps of the system's clock, for sums of durations.
enum class ReplayTimes : bool { recorded, steady };

void replay_selected(Recording& recording, Subscriber& to, bool (*select)(void* context, Entry const& entry),
                     void* context, LostEntries lost, ReplayTimes times);

/// Feeds all entries to a subscriber. Each keeps its own track and time. `select(Entry const&)` is called for every
/// entry, restated ones included. Entries that it rejects, and lost ones, are replayed only as context of others and
/// marked as restored, so that layers print nothing for them. Spans that are open at the end are closed, marked as
/// restored. Records that layers of `to` emit meanwhile are dropped.
template <class F>
void replay(Recording& recording, Subscriber& to, F&& select, LostEntries lost = LostEntries::restored,
            ReplayTimes times = ReplayTimes::recorded) {
  using Function = std::remove_reference_t<F>;
  replay_selected(
      recording, to,
      [](void* context, Entry const& entry) -> bool { return (*static_cast<Function*>(context))(entry); },
      const_cast<void*>(static_cast<void const*>(&select)), lost, times);
}

}}}  // namespace tracing::v1::recording
