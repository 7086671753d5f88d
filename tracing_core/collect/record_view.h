// Declares RecordView, one kept record as it is read, and RecordedSpan, what stays known of a span.
#pragma once

#include <cstdint>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/stored_values.h"

namespace tracing::inline v1 {

enum class RecordKind : std::uint8_t { new_span, record, follows_from, event, enter, exit, close };

/// A span that kept records refer to. While records are visited in order, its values are those it had at that record.
struct RecordedSpan {
  std::uint64_t number = 0;                ///< unique in the ring, never used again; counts from 1
  Metadata const* metadata = nullptr;      ///< as long as what it was read from
  RecordedSpan const* parent = nullptr;    ///< null at a root
  std::uint32_t tag = 0;                   ///< of its making
  Instant time{};                          ///< of its making
  StoredValues values;                     ///< a group for the making and one for each record()

  /// Calls `f(RecordedSpan const&)` for it and what it stands below, innermost first.
  template <class F>
  void for_each_in_path(F&& f) const {
    for (RecordedSpan const* span = this; span != nullptr; span = span->parent) f(*span);
  }
};

/// One kept record. Everything in it is valid during the call that it was passed to.
struct RecordView {
  RecordKind kind = RecordKind::event;
  Parent::Kind parent_kind = Parent::Kind::contextual;  ///< of a new span or event: how it came to stand below what it does
  std::uint64_t number = 0;                             ///< counts the ring's records from 0 and is never used again
  std::uint32_t tag = 0;                                ///< what the ring's owner had set then
  Verdict verdict = 0;                                  ///< the layers of the live registry that saw it
  Instant time{};
  Track track{};                                        ///< the thread, or what stands for one
  RecordedSpan const* span = nullptr;   ///< that it is about; of an event: that it stands below, null at a root
  RecordedSpan const* cause = nullptr;  ///< of follows_from
  FieldValues values;                   ///< of an event, a new span, a record(); else no field has one

  explicit RecordView(FieldValues const& fields) noexcept : values(fields) {}
  /// Of the event, or of the span that it is about.
  Metadata const& metadata() const noexcept { return values.metadata(); }
};

}  // namespace tracing::inline v1
