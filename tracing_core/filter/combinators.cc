#include "tracing_core/filter/combinators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "tracing_core/filter/forwarding_filter.h"

namespace tracing::inline v1::internal {
namespace {

using Filters = std::vector<std::unique_ptr<Filter>>;

// Several filters as one. If one of them follows spans, its state is the state of this filter; if several do, the state
// is the address of an array of their states.
class Group : public Filter {
 public:
  explicit Group(Filters filters) : filters_(std::move(filters)) {
    for (auto const& filter : filters_) {
      if (filter->follows_spans()) followers_.push_back(filter.get());
      wants_events_ = wants_events_ || filter->wants_events();
    }
  }

  bool wants_events() const noexcept override { return wants_events_; }
  bool follows_spans() const noexcept override { return !followers_.empty(); }

  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override {
    if (followers_.size() == 1) return followers_[0]->on_new_span(span, state);
    auto* const states = new (std::nothrow) std::uintptr_t[followers_.size()]();
    if (states == nullptr) return;
    bool any = false;
    for (std::size_t i = 0; i < followers_.size(); ++i) {
      followers_[i]->on_new_span(span, states[i]);
      any = any || states[i] != 0;
    }
    if (any) {
      state = reinterpret_cast<std::uintptr_t>(states);
    } else {
      delete[] states;
    }
  }
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override {
    if (followers_.size() == 1) return followers_[0]->on_record(values, state);
    each(state, [&values](Filter& filter, std::uintptr_t& own) { filter.on_record(values, own); });
  }
  void on_enter(std::uintptr_t state) noexcept override {
    if (followers_.size() == 1) return followers_[0]->on_enter(state);
    each(state, [](Filter& filter, std::uintptr_t own) { filter.on_enter(own); });
  }
  void on_exit(std::uintptr_t state) noexcept override {
    if (followers_.size() == 1) return followers_[0]->on_exit(state);
    each(state, [](Filter& filter, std::uintptr_t own) { filter.on_exit(own); });
  }
  void on_close(std::uintptr_t state) noexcept override {
    if (followers_.size() == 1) return followers_[0]->on_close(state);
    each(state, [](Filter& filter, std::uintptr_t own) { filter.on_close(own); });
    delete[] reinterpret_cast<std::uintptr_t*>(state);
  }

 protected:
  Filters const filters_;

 private:
  template <class F>
  void each(std::uintptr_t state, F&& f) noexcept {
    auto* const states = reinterpret_cast<std::uintptr_t*>(state);
    for (std::size_t i = 0; i < followers_.size(); ++i) {
      if (states[i] != 0) f(*followers_[i], states[i]);
    }
  }

  std::vector<Filter*> followers_;
  bool wants_events_ = false;
};

class AllOf final : public Group {
 public:
  using Group::Group;

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    Interest all = Interest::always;
    for (auto const& filter : filters_) all = std::min(all, filter->callsite_enabled(metadata));
    return all;
  }
  bool enabled(Metadata const& metadata) noexcept override {
    return std::all_of(filters_.begin(), filters_.end(), [&metadata](auto const& f) { return f->enabled(metadata); });
  }
  bool event_enabled(Event const& event) noexcept override {
    return std::all_of(filters_.begin(), filters_.end(), [&event](auto const& f) { return f->event_enabled(event); });
  }
  LevelFilter max_level_hint() const noexcept override {
    LevelFilter least = LevelFilter::trace;
    for (auto const& filter : filters_) least = std::min(least, filter->max_level_hint());
    return least;
  }
};

class AnyOf final : public Group {
 public:
  using Group::Group;

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    Interest any = Interest::never;
    for (auto const& filter : filters_) any = std::max(any, filter->callsite_enabled(metadata));
    return any;
  }
  bool enabled(Metadata const& metadata) noexcept override {
    return std::any_of(filters_.begin(), filters_.end(), [&metadata](auto const& f) { return f->enabled(metadata); });
  }
  // Ignores the decision of a filter that rejects the metadata.
  bool event_enabled(Event const& event) noexcept override {
    return std::any_of(filters_.begin(), filters_.end(),
                       [&event](auto const& f) { return f->event_enabled(event) && f->enabled(event.metadata()); });
  }
  LevelFilter max_level_hint() const noexcept override {
    LevelFilter most = LevelFilter::off;
    for (auto const& filter : filters_) most = std::max(most, filter->max_level_hint());
    return most;
  }
};

// Inverts the answers about metadata. Ignores those about the values of events.
class NoneOf final : public ForwardingFilter {
 public:
  using ForwardingFilter::ForwardingFilter;

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    switch (child().callsite_enabled(metadata)) {
      case Interest::never:
        return Interest::always;
      case Interest::always:
        return Interest::never;
      case Interest::sometimes:
        break;
    }
    return Interest::sometimes;
  }
  bool enabled(Metadata const& metadata) noexcept override { return !child().enabled(metadata); }
  bool enabled_now(Metadata const& metadata) noexcept override { return enabled(metadata); }
  bool event_enabled(Event const&) noexcept override { return true; }
  bool wants_events() const noexcept override { return false; }
  LevelFilter max_level_hint() const noexcept override { return LevelFilter::trace; }
  PerfRole perf_role() const noexcept override { return PerfRole::none; }
  bool decides_by_thread_level() noexcept override { return false; }
};

}  // namespace

std::unique_ptr<Filter> filter_all(Filters filters) { return std::make_unique<AllOf>(std::move(filters)); }
std::unique_ptr<Filter> filter_any(Filters filters) { return std::make_unique<AnyOf>(std::move(filters)); }
std::unique_ptr<Filter> filter_none(std::unique_ptr<Filter> filter) {
  return std::make_unique<NoneOf>(std::move(filter));
}

}  // namespace tracing::inline v1::internal

namespace tracing::inline v1 {

std::unique_ptr<Filter> to_filter(std::shared_ptr<Filter> filter) {
  return filter == nullptr ? to_filter(std::unique_ptr<Filter>())
                           : std::make_unique<ForwardingFilter>(std::move(filter));
}

}  // namespace tracing::inline v1
