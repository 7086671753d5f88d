// Declares Layer, something that reacts to spans and events, and Context, where it is told about them.
#pragma once

#include <cstdint>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1 {

class Registry;
namespace internal {
struct TrackState;
}

/// The calls that a layer wants; the registry leaves out the others.
enum class Hooks : std::uint8_t {
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
};
constexpr Hooks operator|(Hooks a, Hooks b) noexcept {
  return static_cast<Hooks>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(Hooks set, Hooks one) noexcept {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}

/// Where and when a layer is called: the track, the time, the spans that the track is in. Valid during the call.
class Context {
 public:
  Context(Registry& registry, internal::TrackState& track, Origin const& origin, Verdict mask) noexcept
      : registry_(registry), track_(track), time_(origin.time), mask_(mask), restored_(origin.restored), dated_(time_) {}

  /// The moment of the call; the clock is read once for all layers.
  Instant time() const noexcept {
    if (!time_) time_ = Instant::now();
    return time_;
  }
  /// Whether the moment was given with the call, which did not happen just now.
  bool is_dated() const noexcept { return dated_; }
  /// It only restores what stood before a replay begins: keep it, print nothing.
  bool is_restored() const noexcept { return restored_; }
  /// The thread, or what stands for one.
  Track const& track() const noexcept;
  /// The span that the track is in, as this layer sees it.
  SpanRef current_span() const noexcept;
  /// The span that an event stands below: its explicit parent, else the current span; empty for a root.
  SpanRef event_span(Event const& event) const noexcept;
  /// An open span by its id; empty where it is closed or hidden from this layer.
  SpanRef span(SpanId id) const noexcept;
  Registry& registry() const noexcept { return registry_; }

  // For the registry: the same place and moment as another layer sees it.
  void set_mask(Verdict mask) noexcept { mask_ = mask; }

 private:
  Registry& registry_;
  internal::TrackState& track_;
  mutable Instant time_;
  Verdict mask_;
  bool restored_;
  bool dated_;
};

/// Reacts to spans and events: prints, records, exports. Thread-safe: called from any thread at any time. Never throws.
/// What it emits itself is dropped.
class Layer {
 public:
  Layer() = default;
  Layer(Layer const&) = delete;
  Layer& operator=(Layer const&) = delete;
  virtual ~Layer() = default;

  /// The calls it wants; asked once, when it is added to a registry.
  virtual Hooks hooks() const noexcept { return Hooks::all; }
  virtual void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept {
    (void)span, (void)made, (void)context;
  }
  virtual void on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept {
    (void)span, (void)values, (void)context;
  }
  virtual void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept {
    (void)span, (void)cause, (void)context;
  }
  virtual void on_event(Event const& event, Context const& context) noexcept { (void)event, (void)context; }
  /// The track enters the span, perhaps once more while it is in it: each call has its on_exit().
  virtual void on_enter(SpanRef span, Context const& context) noexcept { (void)span, (void)context; }
  /// The track leaves the span once.
  virtual void on_exit(SpanRef span, Context const& context) noexcept { (void)span, (void)context; }
  /// The last handle is gone; afterwards the span does not exist.
  virtual void on_close(SpanRef span, Context const& context) noexcept { (void)span, (void)context; }
  /// A perf span of this thread ends, which is still in it: how long it took. on_exit() and on_close() follow.
  virtual void on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept {
    (void)span, (void)timing, (void)context;
  }
  /// Writes out what is still held back.
  virtual void flush() noexcept {}
};

}  // namespace tracing::inline v1
