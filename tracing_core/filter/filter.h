// Declares Filter, which decides what a layer (or a whole registry) sees.
#pragma once

#include <cstdint>

#include "tracing_core/dispatch/callsite.h"
#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1 {

/// Whether a filter decides about perf spans and perf events: see Metadata::is_perf().
enum class PerfRole : std::uint8_t {
  none,      ///< it is not asked about them
  layer,     ///< it decides which of them its own layer sees
  registry,  ///< it decides which of them all layers of its registry see
};

/// Decides which spans and events a layer sees, from their metadata and perhaps from the spans that the thread is in.
/// Thread-safe. Never throws.
class Filter {
 public:
  Filter() = default;
  Filter(Filter const&) = delete;
  Filter& operator=(Filter const&) = delete;
  virtual ~Filter() = default;

  /// What is known of a callsite once and for all; asked again after rebuild_interest().
  virtual Interest callsite_enabled(Metadata const& metadata) noexcept = 0;
  /// Whether a record of this callsite is wanted now.
  virtual bool enabled(Metadata const& metadata) noexcept = 0;
  /// The same where callsite_enabled() answered `sometimes`: decides only what changes from moment to moment.
  virtual bool enabled_now(Metadata const& metadata) noexcept { return enabled(metadata); }
  /// The last word on an event, with its values. Called only where wants_events() says so.
  virtual bool event_enabled(Event const& event) noexcept { return (void)event, true; }
  virtual bool wants_events() const noexcept { return false; }
  /// The most verbose level that it ever lets pass.
  virtual LevelFilter max_level_hint() const noexcept { return LevelFilter::trace; }

  /// What it decides about perf spans and perf events. Where no filter of a registry decides, they are off. Asked once.
  virtual PerfRole perf_role() const noexcept { return PerfRole::none; }

  /// Whether, where it is undecided, the level gate says the same: see dispatch/level_gate.h. Asked when it is put to use.
  virtual bool decides_by_gate() noexcept { return false; }

  /// Whether it follows spans, by the calls below. They come for the spans that the filter lets pass.
  virtual bool follows_spans() const noexcept { return false; }
  /// `state` is the filter's own for as long as the span is open, zero at first. While it is zero, the span's other calls
  /// are left out. on_close() comes last and releases what `state` stands for.
  virtual void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept { (void)span, (void)state; }
  virtual void on_record(FieldValues const& values, std::uintptr_t& state) noexcept { (void)values, (void)state; }
  virtual void on_enter(std::uintptr_t state) noexcept { (void)state; }
  virtual void on_exit(std::uintptr_t state) noexcept { (void)state; }
  virtual void on_close(std::uintptr_t state) noexcept { (void)state; }
};

}  // namespace tracing::inline v1
