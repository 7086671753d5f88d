// Filter: decides which records a layer, or an entire registry, sees.
#pragma once

#include <cstdint>

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/dispatch/subscriber.h"

namespace tracing { inline namespace v1 {

/// Says for which layers a filter decides about perf spans and perf events: see Metadata::is_perf().
enum class PerfRole : std::uint8_t {
  none,      ///< for no layer: the filter is not queried about them
  layer,     ///< for its own layer
  registry,  ///< for its own layer, and for all layers of its registry whose filters have the role `none`
};

/// Decides which spans and events a layer sees, from their metadata and possibly from the spans that the thread is in.
/// Must be thread-safe.
class Filter {
 public:
  Filter() = default;
  Filter(Filter const&) = delete;
  Filter& operator=(Filter const&) = delete;
  virtual ~Filter() = default;

  /// Returns the answer about a callsite, which is cached until rebuild_interest().
  virtual Interest callsite_enabled(Metadata const& metadata) noexcept = 0;
  /// True if a record of this callsite is wanted now.
  virtual bool enabled(Metadata const& metadata) noexcept = 0;
  /// As enabled(), after callsite_enabled() returned `sometimes`: decides only what changes from moment to moment.
  virtual bool enabled_now(Metadata const& metadata) noexcept { return enabled(metadata); }
  /// Makes the final decision about an event, with its values. Called only if wants_events().
  virtual bool event_enabled(Event const& event) noexcept { return (void)event, true; }
  virtual bool wants_events() const noexcept { return false; }
  /// Returns the most verbose level that ever passes.
  virtual LevelFilter max_level_hint() const noexcept { return LevelFilter::trace; }

  /// Says for which layers the filter decides about perf spans and perf events. They are off if no filter decides.
  /// Called when the registry is built.
  virtual PerfRole perf_role() const noexcept { return PerfRole::none; }

  /// True if the thread level check gives the same answer as enabled_now(): see dispatch/thread_level.h. Called when
  /// the registry is built.
  virtual bool decides_by_thread_level() noexcept { return false; }

  /// True if the filter follows spans by the calls below. It gets them for the spans that it lets pass.
  virtual bool follows_spans() const noexcept { return false; }
  /// False if on_new_span() does nothing until the next rebuild_interest(), although follows_spans() is true: the
  /// answer of a filter whose directives may change, while no directive names a span.
  virtual bool follows_new_spans() const noexcept { return follows_spans(); }
  /// `state` belongs to the filter while the span is open, and is zero at first. While it is zero, the other calls for
  /// the span are omitted. on_close() comes last and must free the object that `state` refers to.
  virtual void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept { (void)span, (void)state; }
  virtual void on_record(FieldValues const& values, std::uintptr_t& state) noexcept { (void)values, (void)state; }
  virtual void on_enter(std::uintptr_t state) noexcept { (void)state; }
  virtual void on_exit(std::uintptr_t state) noexcept { (void)state; }
  virtual void on_close(std::uintptr_t state) noexcept { (void)state; }
};

}}  // namespace tracing::v1
