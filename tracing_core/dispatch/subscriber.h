// Subscriber: the interface between instrumented code and collectors.
#pragma once

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1 {

/// The track and time of a record that was not made by the calling thread now, for a replayer or the stream of a GPU. A
/// null track means the calling thread, an unknown time means now.
struct Origin {
  Track const* track = nullptr;
  Instant time{};
  bool restored = false;  ///< restores state from before the replayed records: layers store it but print nothing
};

/// A span that is being created. Everything it points to is valid during the call only.
struct NewSpan {
  FieldValues fields;
  Parent parent{};
  LayerMask mask = ~LayerMask{0};  ///< the result of Callsite::enabled()
  Origin origin{};

  Metadata const& metadata() const noexcept { return fields.metadata(); }
};

/// A message and fields at one moment. Everything it points to is valid during the call only.
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
  std::uint64_t threshold_ns;  ///< of this span; kNoThreshold if it has none
};

class Registry;
class Subscriber;

/// A span as instrumented code holds it. No span if the id is zero.
struct OpenSpan {
  Subscriber* subscriber = nullptr;
  SpanId id{};
};

/// Receives everything that instrumented code emits. Must be thread-safe: it is called by any thread at any time.
/// Records that it emits while it is called are dropped.
class Subscriber {
 public:
  Subscriber() = default;
  Subscriber(Subscriber const&) = delete;
  Subscriber& operator=(Subscriber const&) = delete;
  virtual ~Subscriber() = default;

  /// The answer about a callsite, which is cached until rebuild_interest().
  virtual Registration register_callsite(Metadata const& metadata) noexcept = 0;
  /// The most verbose level that it ever wants. More verbose callsites are disabled.
  virtual LevelFilter max_level_hint() const noexcept { return internal::max_level_trace; }
  /// The layers that want a record of this callsite now. Must not emit anything, nor must enabled_now().
  virtual LayerMask enabled(Metadata const& metadata) noexcept = 0;
  /// As enabled() after register_callsite() returned `sometimes`: decides only about the undecided layers.
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
  /// Adds a reference to the span, which other threads may use.
  virtual void add_reference(SpanId span) noexcept = 0;
  /// Drops a reference to the span. The last one closes it.
  virtual void drop_reference(SpanId span, Origin const& origin) noexcept = 0;

  /// The span that this thread is in; zero if none.
  virtual SpanId current_span() const noexcept { return {}; }
  /// The metadata of an open span; null if there is no such span.
  virtual Metadata const* metadata(SpanId span) const noexcept { return (void)span, nullptr; }

  /// Opens a span for a block of the calling thread, below the current span: new_span() and enter() in one call, whose
  /// arguments and result fit in registers. Unlike in the other calls, records that it emits are not dropped by the
  /// caller. REQUIRES: the metadata is never destroyed; `values` as for FieldValues.
  virtual OpenSpan open_scope(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
  /// exit() and drop_reference() in one call; likewise.
  virtual void close_scope(SpanId span) noexcept;
  /// close_scope() of a perf span, with its duration.
  virtual void close_timed_scope(SpanId span, Timing const& timing) noexcept { (void)timing, close_scope(span); }

  /// An event of this thread, now, below the current span: event() with arguments that fit in registers. `values` as
  /// for FieldValues.
  virtual void event_here(Metadata const& metadata, LayerMask mask, Value const* values) noexcept;

  /// A record that these layers wanted is dropped, since the thread was inside the subscriber: a signal's handler made it, or
  /// the subscriber itself. Must be async-signal-safe.
  virtual void count_dropped(LayerMask mask) noexcept { (void)mask; }

  /// True if it has open spans, whose handles still call it. A Registry is kept until they are closed; a subscriber of
  /// another type must be kept by its owner.
  virtual bool has_open_spans() const noexcept { return false; }
  /// Itself, if it is a Registry.
  virtual Registry* as_registry() noexcept { return nullptr; }
};

}  // namespace tracing::inline v1
