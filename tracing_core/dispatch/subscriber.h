// Subscriber: the interface between instrumented code and collectors.
#pragma once

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/instant.h"

namespace tracing { inline namespace v1 {

/// The track and time of a record, for a replayer or the stream of a GPU. A null track means the calling thread, an
/// unknown time means now.
struct Origin {
  Track const* track = nullptr;
  Instant time{};
  bool restored = false;  ///< restores state from before the replayed records: layers store it but print nothing
};

/// A span that is being created. The data that it points to is valid only during the call.
struct NewSpan {
  FieldValues fields;
  Parent parent{};
  LayerMask mask = ~LayerMask{0};  ///< the result of Callsite::enabled()
  Origin origin{};

  Metadata const& metadata() const noexcept { return fields.metadata(); }
};

/// A message and fields at one moment. The data that it points to is valid only during the call.
struct Event {
  FieldValues fields;
  Parent parent{};
  LayerMask mask = ~LayerMask{0};  ///< the result of Callsite::enabled()
  Origin origin{};

  Metadata const& metadata() const noexcept { return fields.metadata(); }
};

/// The duration of a perf span, reported when it ends.
struct Timing {
  static constexpr std::uint64_t kNoThreshold = ~std::uint64_t{0};

  std::uint64_t duration_ns;
  std::uint64_t self_ns;       ///< without the perf spans nested in it on its thread
  std::uint64_t threshold_ns;  ///< the span's own threshold; kNoThreshold if it has none
};

class Registry;
class Subscriber;

/// A span as instrumented code holds it. A zero id means no span.
struct OpenSpan {
  Subscriber* subscriber = nullptr;
  SpanId id{};
};

/// Receives everything that instrumented code emits. Must be thread-safe: any thread may call it at any time. Records
/// that the subscriber itself emits during a call are dropped.
class Subscriber {
 public:
  Subscriber() = default;
  Subscriber(Subscriber const&) = delete;
  Subscriber& operator=(Subscriber const&) = delete;
  virtual ~Subscriber() = default;

  /// Called when rebuild_interest() begins, before register_callsite() is called for every callsite.
  virtual void prepare_interest() noexcept {}
  /// Returns the answer about a callsite, which is cached until rebuild_interest().
  virtual Registration register_callsite(Metadata const& metadata) noexcept = 0;
  /// Returns the most verbose level that the subscriber ever wants. More verbose callsites are disabled.
  virtual LevelFilter max_level_hint() const noexcept { return internal::max_level_trace; }
  /// Returns the layers that want a record of this callsite now. Must not emit records.
  virtual LayerMask enabled(Metadata const& metadata) noexcept = 0;
  /// Does what enabled() does, after register_callsite() returned `sometimes`: decides only about the undecided layers.
  /// Must not emit records.
  virtual LayerMask enabled_now(Metadata const& metadata, LayerMask wanted, LayerMask undecided) noexcept {
    (void)wanted, (void)undecided;
    return enabled(metadata);
  }

  /// Creates a span with one reference to it. Returns a zero id if it cannot.
  virtual SpanId new_span(NewSpan const& span) noexcept = 0;
  /// Records more values for fields of the span. The values of other fields are empty.
  virtual void record(SpanId span, FieldValues const& values) noexcept = 0;
  virtual void follows_from(SpanId span, SpanId cause) noexcept = 0;
  virtual void event(Event const& event) noexcept = 0;
  virtual void enter(SpanId span, Origin const& origin) noexcept = 0;
  virtual void exit(SpanId span, Origin const& origin) noexcept = 0;
  /// Adds a reference to the span, from any thread.
  virtual void add_reference(SpanId span) noexcept = 0;
  /// Drops a reference to the span; dropping the last reference closes it.
  virtual void drop_reference(SpanId span, Origin const& origin) noexcept = 0;

  /// Returns the innermost span that this thread is in; zero if the thread is in no span.
  virtual SpanId current_span() const noexcept { return {}; }
  /// Returns the metadata of an open span; null if the span does not exist.
  virtual Metadata const* metadata(SpanId span) const noexcept { return (void)span, nullptr; }

  /// Opens a span for a block of the calling thread, below the current span: new_span() and enter() in one call, whose
  /// arguments and result fit in registers. Unlike in the other calls, the caller does not drop records that this call
  /// emits. REQUIRES: the metadata is never destroyed; `values` as for FieldValues.
  virtual OpenSpan open_scope(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
  /// Does exit() and drop_reference() in one call. Here, too, the caller does not drop records that this call emits.
  virtual void close_scope(SpanId span) noexcept;
  /// Does close_scope() for a perf span, and reports its duration.
  virtual void close_timed_scope(SpanId span, Timing const& timing) noexcept { (void)timing, close_scope(span); }

  /// Handles an event of this thread, now, below the current span: event() with arguments that fit in registers.
  /// `values` as for FieldValues.
  virtual void event_here(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;

  /// Counts a dropped record that these layers wanted. A signal handler or the subscriber itself emitted it while the
  /// thread was inside the subscriber. Must be async-signal-safe.
  virtual void count_dropped(LayerMask mask) noexcept { (void)mask; }

  /// True if the subscriber has open spans, whose handles still call it. A Registry is kept until its spans are closed;
  /// the owner of any other subscriber must keep it that long.
  virtual bool has_open_spans() const noexcept { return false; }
  /// Returns the subscriber itself if it is a Registry, otherwise null.
  virtual Registry* as_registry() noexcept { return nullptr; }
};

}}  // namespace tracing::v1
