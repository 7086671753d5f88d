// Declares Subscriber, the one interface between what emits and what collects.
#pragma once

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1 {

/// Where and when a record happened, for those who feed records that did not happen here and now: a replayer, the stream
/// of a GPU. A null track is the current thread; an unknown time is now.
struct Origin {
  Track const* track = nullptr;
  Instant time{};
  bool restored = false;  ///< it stands for something that came before all that is fed: layers keep it and print nothing
};

/// A span about to be made. Everything it points to is valid during the call only.
struct NewSpan {
  FieldValues fields;
  Parent parent{};
  Verdict verdict = ~Verdict{0};  ///< what enabled() answered
  Origin origin{};

  Metadata const& metadata() const noexcept { return fields.metadata(); }
};

/// A moment with a message and fields. Everything it points to is valid during the call only.
struct Event {
  FieldValues fields;
  Parent parent{};
  Verdict verdict = ~Verdict{0};  ///< what enabled() answered
  Origin origin{};

  Metadata const& metadata() const noexcept { return fields.metadata(); }
};

/// How long a perf span took, told when it ends.
struct Timing {
  static constexpr std::uint64_t kNoThreshold = ~std::uint64_t{0};

  std::uint64_t duration_ns;
  std::uint64_t self_ns;       ///< without the perf spans that its thread was in meanwhile
  std::uint64_t threshold_ns;  ///< the span's own; kNoThreshold: it has none
};

class Subscriber;

/// A span as instrumented code holds it: whose it is, and which; no span where the id is zero.
struct OpenSpan {
  Subscriber* subscriber = nullptr;
  SpanId id{};
};

/// Receives everything that instrumented code emits. Thread-safe: called from any thread at any time. Never throws; a
/// record emitted by a subscriber while it handles one is dropped.
class Subscriber {
 public:
  Subscriber() = default;
  Subscriber(Subscriber const&) = delete;
  Subscriber& operator=(Subscriber const&) = delete;
  virtual ~Subscriber() = default;

  /// What is known of a callsite once and for all; asked again after rebuild_interest().
  virtual Registration register_callsite(Metadata const& metadata) noexcept = 0;
  /// The most verbose level that it ever wants: callsites above it are off.
  virtual LevelFilter max_level_hint() const noexcept { return internal::max_level_trace; }
  /// Who wants a record of this callsite now. Emits nothing itself, here and in the next call.
  virtual Verdict enabled(Metadata const& metadata) noexcept = 0;
  /// The same where register_callsite() answered `sometimes`; decides only what was undecided.
  virtual Verdict enabled_now(Metadata const& metadata, Verdict wanted, Verdict undecided) noexcept {
    (void)wanted, (void)undecided;
    return enabled(metadata);
  }

  /// Makes a span with one reference to it; no span (zero) where it cannot.
  virtual SpanId new_span(NewSpan const& span) noexcept = 0;
  /// Records more values for fields of the span; those not recorded are empty.
  virtual void record(SpanId span, FieldValues const& values) noexcept = 0;
  virtual void follows_from(SpanId span, SpanId cause) noexcept = 0;
  virtual void event(Event const& event) noexcept = 0;
  virtual void enter(SpanId span, Origin const& origin) noexcept = 0;
  virtual void exit(SpanId span, Origin const& origin) noexcept = 0;
  /// One more reference to the span, from now on perhaps on other threads.
  virtual void add_reference(SpanId span) noexcept = 0;
  /// One reference less; the last one closes the span.
  virtual void drop_reference(SpanId span, Origin const& origin) noexcept = 0;

  /// The span that this thread is in; zero where none.
  virtual SpanId current_span() const noexcept { return {}; }
  /// The metadata of a span that somebody holds; null where there is no such span.
  virtual Metadata const* metadata(SpanId span) const noexcept { return (void)span, nullptr; }

  /// A span whose scope is a block of the thread, below the span that the thread is in: new_span() and enter() in one. Its
  /// arguments and result fit in registers, because spans are opened a hundred million times. Unlike in the other calls, what
  /// it emits itself is not dropped for it. REQUIRES: the metadata lives as long as the program; `values` are as FieldValues
  /// wants them.
  virtual OpenSpan open_scope(Metadata const& metadata, Verdict verdict, Value const* values) noexcept;
  /// exit() and drop_reference() in one; likewise.
  virtual void close_scope(SpanId span) noexcept;
  /// The same of a perf span, which tells how long it took.
  virtual void close_timed_scope(SpanId span, Timing const& timing) noexcept { (void)timing, close_scope(span); }

  /// An event of this thread, now and below the span that the thread is in: event() with arguments that fit in registers.
  /// `values` as FieldValues wants them.
  virtual void event_here(Metadata const& metadata, Verdict verdict, Value const* values) noexcept;

  /// Whether spans of it are still open: handles to them still call it. A Registry is kept until they are closed; who writes
  /// a subscriber of their own keeps it.
  virtual bool has_open_spans() const noexcept { return false; }
};

}  // namespace tracing::inline v1
