#include "tracing_core/filter/combinators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "tracing_core/filter/forwarding_filter.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

using Filters = std::vector<std::unique_ptr<Filter>>;

// Combines several filters. Lets a record pass if all of them do or, without `kAll`, if at least one does. If one of
// the filters follows spans, its state is the state of this filter; if several do, the state is the address of an array
// of their states.
template <bool kAll>
class Combined final : public Filter {
 public:
  explicit Combined(Filters filters) : filters_(std::move(filters)) {
    for (auto const& filter : filters_) {
      if (filter->follows_spans()) followers_.push_back(filter.get());
      wants_events_ = wants_events_ || filter->wants_events();
    }
  }

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return combine(Interest::never, Interest::always, [&](Filter& f) { return f.callsite_enabled(metadata); });
  }
  bool enabled(Metadata const& metadata) noexcept override {
    return decide([&](Filter& f) { return f.enabled(metadata); });
  }
  // Without `kAll`, ignores the decision of a filter that rejects the metadata.
  bool event_enabled(Event const& event) noexcept override {
    return decide([&](Filter& f) { return f.event_enabled(event) && (kAll || f.enabled(event.metadata())); });
  }
  LevelFilter max_level_hint() const noexcept override {
    return combine(LevelFilter::off, LevelFilter::trace, [](Filter& f) { return f.max_level_hint(); });
  }
  bool wants_events() const noexcept override { return wants_events_; }
  bool follows_spans() const noexcept override { return !followers_.empty(); }
  bool follows_new_spans() const noexcept override {
    return std::any_of(followers_.begin(), followers_.end(), [](Filter const* f) { return f->follows_new_spans(); });
  }

  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override {
    if (followers_.size() == 1) return followers_[0]->on_new_span(span, state);
    std::unique_ptr<std::uintptr_t[]> states(new (std::nothrow) std::uintptr_t[followers_.size()]());
    if (states == nullptr) return;
    bool any = false;
    for (std::size_t i = 0; i < followers_.size(); ++i) {
      followers_[i]->on_new_span(span, states[i]);
      any = any || states[i] != 0;
    }
    if (any) state = reinterpret_cast<std::uintptr_t>(states.release());
  }
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override {
    each(state, [&values](Filter& filter, std::uintptr_t& own) { filter.on_record(values, own); });
  }
  void on_enter(std::uintptr_t state) noexcept override {
    each(state, [](Filter& filter, std::uintptr_t own) { filter.on_enter(own); });
  }
  void on_exit(std::uintptr_t state) noexcept override {
    each(state, [](Filter& filter, std::uintptr_t own) { filter.on_exit(own); });
  }
  void on_close(std::uintptr_t state) noexcept override {
    each(state, [](Filter& filter, std::uintptr_t own) { filter.on_close(own); });
    if (followers_.size() > 1) delete[] reinterpret_cast<std::uintptr_t*>(state);
  }

 private:
  // Returns the least of the answers or, without `kAll`, the greatest.
  template <class Answer, class F>
  Answer combine(Answer least, Answer greatest, F&& f) const noexcept {
    Answer answer = kAll ? greatest : least;
    for (auto const& filter : filters_) answer = kAll ? std::min(answer, f(*filter)) : std::max(answer, f(*filter));
    return answer;
  }
  // Combines yes-or-no answers. Stops at the first filter that decides.
  template <class F>
  bool decide(F&& f) const noexcept {
    auto const decisive = [&f](auto const& filter) { return f(*filter) != kAll; };
    return std::any_of(filters_.begin(), filters_.end(), decisive) != kAll;
  }
  template <class F>
  void each(std::uintptr_t& state, F&& f) const noexcept {
    if (followers_.size() == 1) return f(*followers_[0], state);
    auto* const states = reinterpret_cast<std::uintptr_t*>(state);
    for (std::size_t i = 0; i < followers_.size(); ++i) {
      if (states[i] != 0) f(*followers_[i], states[i]);
    }
  }

  Filters const filters_;
  std::vector<Filter*> followers_;
  bool wants_events_ = false;
};

// Inverts the answers about metadata. Ignores the answers about the values of events.
class NoneOf final : public ForwardingFilter {
 public:
  using ForwardingFilter::ForwardingFilter;

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    Interest const interest = child().callsite_enabled(metadata);
    if (interest == Interest::sometimes) return interest;
    return interest == Interest::never ? Interest::always : Interest::never;
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

std::unique_ptr<Filter> filter_all(Filters filters) { return std::make_unique<Combined<true>>(std::move(filters)); }
std::unique_ptr<Filter> filter_any(Filters filters) { return std::make_unique<Combined<false>>(std::move(filters)); }
std::unique_ptr<Filter> filter_none(std::unique_ptr<Filter> filter) {
  return std::make_unique<NoneOf>(std::move(filter));
}

}}}  // namespace tracing::v1::internal

namespace tracing { inline namespace v1 {

std::unique_ptr<Filter> to_filter(std::shared_ptr<Filter> filter) {
  return filter == nullptr ? to_filter(std::unique_ptr<Filter>())
                           : std::make_unique<ForwardingFilter>(std::move(filter));
}

}}  // namespace tracing::v1
