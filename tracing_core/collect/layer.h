// Layer: reacts to spans and events. Context: the circumstances of a call to a layer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/dispatch/subscriber.h"

namespace tracing { inline namespace v1 {

class Registry;
namespace internal {
struct TrackState;
}

/// The calls that a layer wants. The registry omits all other calls.
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
  /// Not a call: keeps each value of a field that is recorded several times. Without it, a span has the value from its
  /// beginning and the last value, and its memory does not grow with each record(). Not in `all`.
  all_values = 512,
  /// try_event(), try_scope_begin(), try_scope_end(), try_new_span() and try_step() come first for what no other layer
  /// wants. Together with `scopes`; not in `all`. Of several such layers only the first is asked.
  direct = 1024,
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

  /// Returns the time of the record. Reads the clock once for all layers.
  Instant time() const noexcept {
    if (!time_) time_ = Instant::now();
    return time_;
  }
  /// True if the record came with its time: it did not happen just now.
  bool is_dated() const noexcept { return dated_; }
  /// True if the record sets up state from before a replay: store it, but print nothing.
  bool is_restored() const noexcept { return restored_; }
  /// Returns the thread, or another track such as a GPU stream.
  Track const& track() const noexcept;
  /// Returns the span that the track is in, as this layer sees it.
  SpanRef current_span() const noexcept;
  /// Returns the parent of an event: its explicit parent, or without one the current span; empty for a root.
  SpanRef event_span(Event const& event) const noexcept;
  /// Returns the open span with this id; empty if it is closed or hidden from this layer.
  SpanRef span(SpanId id) const noexcept;
  Registry& registry() const noexcept { return registry_; }
  /// Calls `visit` for each of the innermost `max` spans that the calling thread is in, in the order in which it
  /// entered them. They are the calling thread's spans even if the record belongs to another track. Ends its search at
  /// the `max`-th span, so a deep stack costs no more.
  void visit_entered_here(std::size_t max, void (*visit)(void* context, SpanRef span), void* context) const noexcept;
  /// Returns how many spans the calling thread is in, at most `max`.
  std::size_t count_entered_here(std::size_t max) const noexcept;

  // The registry uses the context for each layer in turn.
  void set_mask(LayerMask mask) noexcept { mask_ = mask; }
  LayerMask mask() const noexcept { return mask_; }
  // Called by the layer that records. Later layers then see the time that is in the recording, unless an earlier
  // layer asked for the time.
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

/// Reacts to spans and events: prints, records or exports them. Must be thread-safe: any thread may call it at any
/// time. Records that it emits itself are dropped.
class Layer {
 public:
  Layer() = default;
  Layer(Layer const&) = delete;
  Layer& operator=(Layer const&) = delete;
  virtual ~Layer() = default;

  /// Returns the calls that the layer wants. Called once, when its registry is built.
  virtual Hooks hooks() const noexcept { return Hooks::all; }
  virtual void on_new_span(SpanRef, NewSpan const&, Context const&) noexcept {}
  virtual void on_record(SpanRef, FieldValues const& /*values*/, Context const&) noexcept {}
  virtual void on_follows_from(SpanRef, SpanRef /*cause*/, Context const&) noexcept {}
  virtual void on_event(Event const&, Context const&) noexcept {}
  /// The track enters the span; it may already be in it. Each call has a matching on_exit().
  virtual void on_enter(SpanRef, Context const&) noexcept {}
  /// The track leaves the span.
  virtual void on_exit(SpanRef, Context const&) noexcept {}
  /// The last handle is gone. The span no longer exists after this call.
  virtual void on_close(SpanRef, Context const&) noexcept {}
  /// A perf span of this thread ends; `timing` is its duration. on_exit() and on_close() follow.
  virtual void on_timed(SpanRef, Timing const&, Context const&) noexcept {}
  /// With Hooks::scopes, replaces on_new_span() and on_enter() for a span that one statement opens and enters.
  virtual void on_scope_begin(SpanRef, Context const&) noexcept {}
  /// With Hooks::scopes, replaces on_exit() and on_close() for the innermost span if nothing holds it, nothing is kept
  /// with it, and no other layer wants its on_close(). All other spans end with these two calls.
  virtual void on_scope_end(SpanRef, Context const&) noexcept {}
  /// With Hooks::direct, these come first for an event or a scope of the calling thread, at the present time and with a
  /// contextual parent, that no other layer wants. `track` is the thread, and `values` are as many as the statement
  /// has, or null. The track is in the span of try_scope_begin() and try_scope_end(). If they return false, they have
  /// recorded nothing, and on_event(), on_scope_begin() or on_scope_end() follows.
  virtual bool try_event(Track const& /*track*/, Metadata const&, Value const* /*values*/, LayerMask) noexcept {
    return false;
  }
  virtual bool try_scope_begin(Track const& /*track*/, SpanRef, Value const* /*values*/) noexcept { return false; }
  virtual bool try_scope_end(Track const& /*track*/, SpanRef) noexcept { return false; }
  /// The same for spans with handles. Their parent may be explicit, and the track has already left the span at
  /// Step::exit. If they return false, on_new_span(), on_enter(), on_exit() or on_close() follows.
  virtual bool try_new_span(Track const& /*track*/, SpanRef, NewSpan const&) noexcept { return false; }
  enum class Step : std::uint8_t { enter, exit, close };
  virtual bool try_step(Track const& /*track*/, SpanRef, Step) noexcept { return false; }
  /// Called when a record that the layer wanted is dropped: a signal handler or a layer made it while the thread was
  /// inside a layer or the registry. Must be async-signal-safe.
  virtual void on_dropped() noexcept {}
  /// Writes out buffered data.
  virtual void flush() noexcept {}
};

}}  // namespace tracing::v1
