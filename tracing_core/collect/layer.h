// Layer: reacts to spans and events. Context: the circumstances of a call to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1 {

class Registry;
namespace internal {
struct TrackState;
}

/// The calls that a layer wants. The registry omits the others.
enum class Hooks : std::uint16_t {
  none = 0,
  new_span = 1,
  record = 2,
  follows_from = 4,
  event = 8,
  enter = 16,
  exit = 32,
  close = 64,
  timed = 128,
  all = 255,
  scopes = 256,  ///< on_scope_begin() and on_scope_end() replace four calls; not in `all`
  /// Not a call: keep each value of a field that is recorded several times. Otherwise a span has the value from its
  /// beginning and the last one, and its memory does not grow with each record(). Not in `all`.
  all_values = 512,
};
constexpr Hooks operator|(Hooks a, Hooks b) noexcept {
  return static_cast<Hooks>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
constexpr Hooks operator&(Hooks a, Hooks b) noexcept {
  return static_cast<Hooks>(static_cast<std::uint16_t>(a) & static_cast<std::uint16_t>(b));
}
constexpr Hooks operator~(Hooks a) noexcept { return static_cast<Hooks>(~static_cast<std::uint16_t>(a)); }
constexpr bool has(Hooks set, Hooks one) noexcept {
  return (static_cast<std::uint16_t>(set) & static_cast<std::uint16_t>(one)) != 0;
}

/// The track and time of a call to a layer, and the spans that the track is in. Valid during the call.
class Context {
 public:
  Context(Registry& registry, internal::TrackState& track, Origin const& origin, LayerMask mask) noexcept
      : registry_(registry),
        track_(track),
        time_(origin.time),
        mask_(mask),
        restored_(origin.restored),
        dated_(time_) {}

  /// The time of the record. The clock is read once for all layers.
  Instant time() const noexcept {
    if (!time_) time_ = Instant::now();
    return time_;
  }
  /// The record came with its time: it did not happen just now.
  bool is_dated() const noexcept { return dated_; }
  /// The record sets up state from before a replay: keep it, but print nothing.
  bool is_restored() const noexcept { return restored_; }
  /// The thread, or another track such as a GPU stream.
  Track const& track() const noexcept;
  /// The span that the track is in, as this layer sees it.
  SpanRef current_span() const noexcept;
  /// The parent of an event: its explicit parent, or else the current span; empty for a root.
  SpanRef event_span(Event const& event) const noexcept;
  /// The open span with this id; empty if it is closed or hidden from this layer.
  SpanRef span(SpanId id) const noexcept;
  Registry& registry() const noexcept { return registry_; }
  /// The spans that the track is in, in the order in which it entered them, outermost first: calls `visit` for each.
  void visit_entered(void (*visit)(void* context, SpanRef span), void* context) const noexcept;
  /// The same of the innermost `max` spans of the calling thread, which may make records of another track. Takes time
  /// for `max` spans, however many there are.
  void visit_entered_here(std::size_t max, void (*visit)(void* context, SpanRef span), void* context) const noexcept;
  /// How many spans the calling thread is in, at most `max`.
  std::size_t count_entered_here(std::size_t max) const noexcept;

  // For the registry: the same context for another layer.
  void set_mask(LayerMask mask) noexcept { mask_ = mask; }
  LayerMask mask() const noexcept { return mask_; }
  // For the layer that records: those after it see the time that is in the recording, unless one asked before.
  void set_time(Instant time) const noexcept {
    if (!time_) time_ = time;
  }

 private:
  Registry& registry_;
  internal::TrackState& track_;
  mutable Instant time_;
  LayerMask mask_;
  bool restored_;
  bool dated_;
};

/// Reacts to spans and events: prints, records or exports them. Must be thread-safe: it is called by any thread at any
/// time. Records that it emits itself are dropped.
class Layer {
 public:
  Layer() = default;
  Layer(Layer const&) = delete;
  Layer& operator=(Layer const&) = delete;
  virtual ~Layer() = default;

  /// The calls that it wants. Called once, when its registry is built.
  virtual Hooks hooks() const noexcept { return Hooks::all; }
  virtual void on_new_span(SpanRef, NewSpan const&, Context const&) noexcept {}
  virtual void on_record(SpanRef, FieldValues const& /*values*/, Context const&) noexcept {}
  virtual void on_follows_from(SpanRef, SpanRef /*cause*/, Context const&) noexcept {}
  virtual void on_event(Event const&, Context const&) noexcept {}
  /// The track enters the span, in which it may be already. Each call has a matching on_exit().
  virtual void on_enter(SpanRef, Context const&) noexcept {}
  /// The track leaves the span.
  virtual void on_exit(SpanRef, Context const&) noexcept {}
  /// The last handle is gone. The span does not exist afterwards.
  virtual void on_close(SpanRef, Context const&) noexcept {}
  /// A perf span of this thread ends; its duration. on_exit() and on_close() follow.
  virtual void on_timed(SpanRef, Timing const&, Context const&) noexcept {}
  /// With Hooks::scopes, in place of on_new_span() and on_enter(): a span is opened and entered by one statement.
  virtual void on_scope_begin(SpanRef, Context const&) noexcept {}
  /// In place of on_exit() and on_close(): the innermost span, of which nothing remains. A span that is not the
  /// innermost one, or that somebody still holds, ends by these two.
  virtual void on_scope_end(SpanRef, Context const&) noexcept {}
  /// A record that the layer wanted is dropped, since the thread was in a layer or in the registry: a signal's handler made
  /// it, or a layer. Must be async-signal-safe.
  virtual void on_dropped() noexcept {}
  /// Writes out buffered data.
  virtual void flush() noexcept {}
};

}  // namespace tracing::inline v1
