// RecordView: one stored record. RecordedSpan: a span that stored records refer to.
#pragma once

#include <cstdint>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1 {

enum class RecordKind : std::uint8_t { new_span, record, follows_from, event, enter, exit, close };

/// A span that stored records refer to. While records are visited, its values are those that it had at the visited
/// record.
struct RecordedSpan {
  /// Followed by a group of values, in the memory of a ring.
  struct StoredGroup {
    StoredGroup* next;
  };

  std::uint64_t number = 0;                ///< unique in the ring, never reused; counts from 1
  Metadata const* metadata = nullptr;      ///< valid as long as the ring or snapshot
  RecordedSpan const* parent = nullptr;    ///< null for a root
  std::uint32_t tag = 0;                   ///< at its creation
  Instant time{};                          ///< of its creation
  StoredValues values;                     ///< a group from its creation and one for each record()
  StoredGroup* more_values = nullptr;  ///< in RecordRing::drain_dying() only: later groups, read where they are

  /// Calls `f(FieldValues)` for each group of `values` and `more_values`, oldest first.
  template <class F>
  void for_each_group(F&& f) const {
    values.for_each_group(*metadata, f);
    for (StoredGroup const* group = more_values; group != nullptr; group = group->next) {
      DecodedValues decoded;
      StoredValues::decode_group(reinterpret_cast<char const*>(group + 1), 0, *metadata, decoded);
      f(FieldValues(*metadata, decoded.data()));
    }
  }
};

/// One stored record. Everything in it is valid during the call that it was passed to.
struct RecordView {
  RecordKind kind = RecordKind::event;
  Parent::Kind parent_kind = Parent::Kind::contextual;  ///< of a new span or event: how its parent was chosen
  std::uint64_t number = 0;                             ///< of the record in its ring, from 0, never reused
  std::uint32_t tag = 0;                                ///< see RecordRing::set_tag()
  LayerMask mask = 0;                                  ///< the layers of the live registry that saw it
  Instant time{};
  Track track{};                                        ///< the thread, or another track such as a GPU stream
  RecordedSpan const* span = nullptr;   ///< the span, or the parent of an event, null for a root
  RecordedSpan const* cause = nullptr;  ///< of follows_from
  FieldValues values;                   ///< of an event, a new span, or a record(); otherwise without values

  explicit RecordView(FieldValues const& fields) noexcept : values(fields) {}
  /// Of the event or span.
  Metadata const& metadata() const noexcept { return values.metadata(); }
};

}  // namespace tracing::inline v1
