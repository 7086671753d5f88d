// filter_fn() and dynamic_filter_fn() make filters of functions; level_filter() makes a filter of a level.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/filter/filter.h"

namespace tracing { inline namespace v1 {

/// The data of the calling thread that a dynamic filter can query.
class FilterContext {
 public:
  /// Returns the span that this thread is in; null if it is in none. Valid during the call.
  Metadata const* current_span() const noexcept {
    Subscriber const* const subscriber = current_subscriber();
    SpanId const span = subscriber == nullptr ? SpanId{} : subscriber->current_span();
    return span ? subscriber->metadata(span) : nullptr;
  }
};

namespace internal {

// Calls `f` to decide. If `kDynamic`, `f` also gets a FilterContext, and its results are not cached.
template <class F, bool kDynamic>
class FilterFn final : public Filter {
 public:
  FilterFn(F f, LevelFilter max_level) : f_(std::move(f)), max_level_(max_level) {}

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    if constexpr (kDynamic) return metadata.level() <= max_level_ ? Interest::sometimes : Interest::never;
    return enabled(metadata) ? Interest::always : Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override {
    if (metadata.level() > max_level_) return false;
    if constexpr (kDynamic) {
      return f_(metadata, FilterContext());
    } else {
      return f_(metadata);
    }
  }
  LevelFilter max_level_hint() const noexcept override { return max_level_; }

 private:
  F f_;
  LevelFilter max_level_;
};

}  // namespace internal

/// Lets records pass for which `f(metadata)` returns true. Its result is cached for each callsite, so it must depend on
/// the metadata only. Nothing above `max_level` passes. `f` is called by any thread and must not throw.
template <class F>
requires std::is_invocable_r_v<bool, F&, Metadata const&> std::unique_ptr<Filter> filter_fn(
    F f, LevelFilter max_level = internal::max_level_trace) {
  return std::make_unique<internal::FilterFn<F, false>>(std::move(f), max_level);
}

/// As filter_fn(), but `f(metadata, context)` is called for every record.
template <class F>
requires std::is_invocable_r_v<bool, F&, Metadata const&, FilterContext const&> std::unique_ptr<Filter>
dynamic_filter_fn(F f, LevelFilter max_level = internal::max_level_trace) {
  return std::make_unique<internal::FilterFn<F, true>>(std::move(f), max_level);
}

/// Lets everything up to a level pass.
inline std::unique_ptr<Filter> level_filter(LevelFilter level) {
  return filter_fn([](Metadata const&) { return true; }, level);
}

}}  // namespace tracing::v1
