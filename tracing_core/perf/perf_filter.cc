#include "tracing_core/perf/perf_filter.h"

#include <utility>

#include "tracing_core/filter/combinators.h"
#include "tracing_core/filter/forwarding_filter.h"

namespace tracing { inline namespace v1 {
namespace {

class PerfFilter final : public BasicForwardingFilter<std::unique_ptr<EnvFilter>> {
 public:
  PerfFilter(EnvFilter selection, PerfRole role, bool events)
      : BasicForwardingFilter(std::make_unique<EnvFilter>(std::move(selection))), role_(role), events_(events) {}

  PerfRole perf_role() const noexcept override { return role_; }
  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    if (metadata.is_perf()) return is_wanted(metadata) ? child().callsite_enabled(metadata) : Interest::never;
    return is_named(metadata) ? Interest::always : Interest::never;
  }
  bool enabled(Metadata const& metadata) noexcept override {
    return metadata.is_perf() ? is_wanted(metadata) && child().enabled(metadata) : is_named(metadata);
  }
  bool enabled_now(Metadata const& metadata) noexcept override { return enabled(metadata); }
  bool decides_by_thread_level() noexcept override { return false; }

 private:
  bool is_wanted(Metadata const& metadata) const noexcept { return events_ || metadata.is_span(); }
  bool is_named(Metadata const& metadata) const noexcept {
    return metadata.is_span() && child().follows_spans() && child().dynamic_directives().matches(metadata);
  }

  PerfRole const role_;
  bool const events_;
};

class WithPerfSpans final : public ForwardingFilter {
 public:
  explicit WithPerfSpans(std::unique_ptr<Filter> ordinary) : ForwardingFilter(to_filter(std::move(ordinary))) {}

  PerfRole perf_role() const noexcept override { return PerfRole::layer; }
  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return metadata.is_perf() ? Interest::always : child().callsite_enabled(metadata);
  }
  bool enabled(Metadata const& metadata) noexcept override { return metadata.is_perf() || child().enabled(metadata); }
  bool enabled_now(Metadata const& metadata) noexcept override {
    return metadata.is_perf() || child().enabled_now(metadata);
  }
  LevelFilter max_level_hint() const noexcept override { return LevelFilter::trace; }
};

}  // namespace

std::unique_ptr<Filter> perf_filter(EnvFilter selection, PerfRole role, bool events) {
  return std::make_unique<PerfFilter>(std::move(selection), role, events);
}

std::unique_ptr<Filter> with_perf_spans(std::unique_ptr<Filter> ordinary) {
  return std::make_unique<WithPerfSpans>(std::move(ordinary));
}

}}  // namespace tracing::v1
