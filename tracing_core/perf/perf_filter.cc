#include "tracing_core/perf/perf_filter.h"

#include <utility>

#include "tracing_core/filter/combinators.h"

namespace tracing::inline v1 {
namespace {

class PerfFilter final : public Filter {
 public:
  PerfFilter(EnvFilter selection, PerfRole role, bool events) : selection_(std::move(selection)), role_(role), events_(events) {}

  PerfRole perf_role() const noexcept override { return role_; }
  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    if (metadata.is_perf()) return is_heard(metadata) ? selection_.callsite_enabled(metadata) : Interest::never;
    return is_named(metadata) ? Interest::always : Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override {
    return metadata.is_perf() ? is_heard(metadata) && selection_.enabled(metadata) : is_named(metadata);
  }
  bool enabled_now(Metadata const& metadata) noexcept override { return enabled(metadata); }
  LevelFilter max_level_hint() const noexcept override { return selection_.max_level_hint(); }
  bool follows_spans() const noexcept override { return selection_.follows_spans(); }
  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override { selection_.on_new_span(span, state); }
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override { selection_.on_record(values, state); }
  void on_enter(std::uintptr_t state) noexcept override { selection_.on_enter(state); }
  void on_exit(std::uintptr_t state) noexcept override { selection_.on_exit(state); }
  void on_close(std::uintptr_t state) noexcept override { selection_.on_close(state); }

 private:
  bool is_heard(Metadata const& metadata) const noexcept { return events_ || metadata.is_span(); }
  bool is_named(Metadata const& metadata) const noexcept {
    return metadata.is_span() && selection_.follows_spans() && selection_.dynamic_directives().matches(metadata);
  }

  EnvFilter selection_;
  PerfRole const role_;
  bool const events_;
};

class WithPerfSpans final : public Filter {
 public:
  explicit WithPerfSpans(std::unique_ptr<Filter> ordinary) : ordinary_(boxed(std::move(ordinary))) {}

  PerfRole perf_role() const noexcept override { return PerfRole::layer; }
  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return metadata.is_perf() ? Interest::always : ordinary_->callsite_enabled(metadata);
  }
  bool enabled(Metadata const& metadata) noexcept override { return metadata.is_perf() || ordinary_->enabled(metadata); }
  bool enabled_now(Metadata const& metadata) noexcept override {
    return metadata.is_perf() || ordinary_->enabled_now(metadata);
  }
  bool event_enabled(Event const& event) noexcept override { return ordinary_->event_enabled(event); }
  bool wants_events() const noexcept override { return ordinary_->wants_events(); }
  LevelFilter max_level_hint() const noexcept override { return LevelFilter::trace; }
  bool follows_spans() const noexcept override { return ordinary_->follows_spans(); }
  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override { ordinary_->on_new_span(span, state); }
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override { ordinary_->on_record(values, state); }
  void on_enter(std::uintptr_t state) noexcept override { ordinary_->on_enter(state); }
  void on_exit(std::uintptr_t state) noexcept override { ordinary_->on_exit(state); }
  void on_close(std::uintptr_t state) noexcept override { ordinary_->on_close(state); }

 private:
  std::unique_ptr<Filter> const ordinary_;
};

}  // namespace

std::unique_ptr<Filter> perf_filter(EnvFilter selection, PerfRole role, bool events) {
  return std::make_unique<PerfFilter>(std::move(selection), role, events);
}

std::unique_ptr<Filter> with_perf_spans(std::unique_ptr<Filter> ordinary) {
  return std::make_unique<WithPerfSpans>(std::move(ordinary));
}

}  // namespace tracing::inline v1
