// Declares filters made of a function: filter_fn() and dynamic_filter_fn(), and a level as a filter.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/filter.h"

namespace tracing::inline v1 {

/// What a dynamic filter may know of the moment in which it decides.
class FilterContext {
 public:
  /// The span that this thread is in; null where none. Valid during the call.
  Metadata const* current_span() const noexcept {
    Subscriber const* const subscriber = current_subscriber();
    SpanId const span = subscriber == nullptr ? SpanId{} : subscriber->current_span();
    return span ? subscriber->metadata(span) : nullptr;
  }
};

namespace internal {

template <class F>
class FilterFn final : public Filter {
 public:
  FilterFn(F f, LevelFilter max_level) : f_(std::move(f)), max_level_(max_level) {}

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return enabled(metadata) ? Interest::always : Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override { return metadata.level() <= max_level_ && f_(metadata); }
  LevelFilter max_level_hint() const noexcept override { return max_level_; }

 private:
  F f_;
  LevelFilter max_level_;
};

template <class F>
class DynamicFilterFn final : public Filter {
 public:
  DynamicFilterFn(F f, LevelFilter max_level) : f_(std::move(f)), max_level_(max_level) {}

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return metadata.level() <= max_level_ ? Interest::sometimes : Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override {
    return metadata.level() <= max_level_ && f_(metadata, FilterContext());
  }
  LevelFilter max_level_hint() const noexcept override { return max_level_; }

 private:
  F f_;
  LevelFilter max_level_;
};

}  // namespace internal

/// Lets pass what `f(metadata)` wants, a function of metadata alone: it is asked once for each callsite and its answer
/// is kept. Nothing above `max_level` passes. `f` is called from any thread and must not throw.
template <class F>
requires std::is_invocable_r_v<bool, F&, Metadata const&> std::unique_ptr<Filter> filter_fn(
    F f, LevelFilter max_level = internal::max_level_trace) {
  return std::make_unique<internal::FilterFn<F>>(std::move(f), max_level);
}

/// Lets pass what `f(metadata, context)` wants, asked for every record. Otherwise as filter_fn().
template <class F>
requires std::is_invocable_r_v<bool, F&, Metadata const&, FilterContext const&> std::unique_ptr<Filter>
dynamic_filter_fn(F f, LevelFilter max_level = internal::max_level_trace) {
  return std::make_unique<internal::DynamicFilterFn<F>>(std::move(f), max_level);
}

/// Lets pass everything up to a level.
inline std::unique_ptr<Filter> level_filter(LevelFilter level) {
  return filter_fn([](Metadata const&) { return true; }, level);
}

}  // namespace tracing::inline v1
