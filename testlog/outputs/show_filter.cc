#include "testlog/outputs/show_filter.h"

#include <new>

namespace testlog { inline namespace v1 {
namespace {

// The filter under which a span was made, and the state of the span in that filter.
struct SpanState {
  tracing::EnvFilter* filter;
  std::uintptr_t state;
};

SpanState& state_of(std::uintptr_t state) noexcept { return *reinterpret_cast<SpanState*>(state); }

}  // namespace

bool ShowFilter::set(std::string_view directives, std::vector<tracing::ParseError>* errors) {
  std::vector<tracing::ParseError> ignored;
  tracing::support::MutexLock const lock(mutex_);
  auto found = filters_.find(directives);
  if (found == filters_.end()) {
    auto made = tracing::EnvFilter::parse_lossy(directives, {}, errors == nullptr ? &ignored : errors);
    found = filters_.emplace(directives, std::make_unique<tracing::EnvFilter>(std::move(made))).first;
  }
  return current_.exchange(found->second.get(), std::memory_order_acq_rel) != found->second.get();
}

std::string ShowFilter::directives() const {
  tracing::support::MutexLock const lock(mutex_);
  for (auto const& [text, filter] : filters_) {
    if (filter.get() == current_.load(std::memory_order_relaxed)) return text;
  }
  return {};
}

tracing::Interest ShowFilter::callsite_enabled(tracing::Metadata const& metadata) noexcept {
  return now().callsite_enabled(metadata);
}

void ShowFilter::on_new_span(tracing::NewSpan const& span, std::uintptr_t& state) noexcept {
  tracing::EnvFilter& filter = now();
  if (!filter.follows_spans()) return;
  std::uintptr_t own = 0;
  filter.on_new_span(span, own);
  if (own == 0) return;
  auto* const kept = new (std::nothrow) SpanState{&filter, own};
  if (kept == nullptr) return filter.on_close(own);
  state = reinterpret_cast<std::uintptr_t>(kept);
}

void ShowFilter::on_record(tracing::FieldValues const& values, std::uintptr_t& state) noexcept {
  state_of(state).filter->on_record(values, state_of(state).state);
}
void ShowFilter::on_enter(std::uintptr_t state) noexcept { state_of(state).filter->on_enter(state_of(state).state); }
void ShowFilter::on_exit(std::uintptr_t state) noexcept { state_of(state).filter->on_exit(state_of(state).state); }
void ShowFilter::on_close(std::uintptr_t state) noexcept {
  state_of(state).filter->on_close(state_of(state).state);
  delete &state_of(state);
}

}}  // namespace testlog::v1
