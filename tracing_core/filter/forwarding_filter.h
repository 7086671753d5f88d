// ForwardingFilter: the base of filters that wrap one other filter.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "tracing_core/filter/filter.h"

namespace tracing { inline namespace v1 {

/// Forwards every call to a child; derived filters override the calls that they change. `Pointer` is any kind of
/// pointer to the child, which must not be null.
template <class Pointer>
class BasicForwardingFilter : public Filter {
 public:
  explicit BasicForwardingFilter(Pointer child) noexcept : child_(std::move(child)) {}

  Interest callsite_enabled(Metadata const& metadata) noexcept override { return child_->callsite_enabled(metadata); }
  bool enabled(Metadata const& metadata) noexcept override { return child_->enabled(metadata); }
  bool enabled_now(Metadata const& metadata) noexcept override { return child_->enabled_now(metadata); }
  bool event_enabled(Event const& event) noexcept override { return child_->event_enabled(event); }
  bool wants_events() const noexcept override { return child_->wants_events(); }
  LevelFilter max_level_hint() const noexcept override { return child_->max_level_hint(); }
  PerfRole perf_role() const noexcept override { return child_->perf_role(); }
  bool decides_by_thread_level() noexcept override { return child_->decides_by_thread_level(); }
  bool follows_spans() const noexcept override { return child_->follows_spans(); }
  bool follows_new_spans() const noexcept override { return child_->follows_new_spans(); }
  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override { child_->on_new_span(span, state); }
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override {
    child_->on_record(values, state);
  }
  void on_enter(std::uintptr_t state) noexcept override { child_->on_enter(state); }
  void on_exit(std::uintptr_t state) noexcept override { child_->on_exit(state); }
  void on_close(std::uintptr_t state) noexcept override { child_->on_close(state); }

 protected:
  auto& child() const noexcept { return *child_; }

 private:
  Pointer const child_;
};

/// Forwards to a filter that it owns, alone or with others.
using ForwardingFilter = BasicForwardingFilter<std::shared_ptr<Filter>>;

}}  // namespace tracing::v1
