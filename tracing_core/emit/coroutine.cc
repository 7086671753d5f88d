#include "tracing_core/emit/coroutine.h"

#include "tracing_core/dispatch/dispatcher.h"

namespace tracing::inline v1::internal {

void CoroutineSpans::enter() noexcept {
  if (is_entered_) return;
  is_entered_ = true;
  subscriber_ = current_subscriber();
  below_ = subscriber_ == nullptr ? SpanId{} : subscriber_->current_span();
  bool const is_below = around_.open().subscriber == subscriber_ && around_.id() == below_;
  entered_around_ = around_ && !is_below;
  if (entered_around_) internal::enter(around_.open());
  for (auto span = inner_.rbegin(); span != inner_.rend(); ++span) internal::enter(span->open());
  inner_.clear();
}

void CoroutineSpans::leave() noexcept {
  if (!is_entered_) return;
  is_entered_ = false;
  constexpr std::size_t kDeepest = 10'000;  // a subscriber may be wrong about what it is in
  while (subscriber_ != nullptr && inner_.size() < kDeepest) {
    SpanId const id = subscriber_->current_span();
    bool const is_around = entered_around_ && around_.open().subscriber == subscriber_ && id == around_.id();
    if (!id || id == below_ || is_around) break;
    Metadata const* const metadata = subscriber_->metadata(id);
    if (metadata == nullptr) break;
    OpenSpan const open{subscriber_, id};
    internal::add_reference(open);
    Span span(open, *metadata);
    internal::exit(open);
    try {
      inner_.push_back(std::move(span));
    } catch (...) {  // no memory: it is left, and not entered again
    }
  }
  if (entered_around_) internal::exit(around_.open());
}

void CoroutineSpans::finish() noexcept {
  leave();
  inner_.clear();
  around_ = Span();
}

}  // namespace tracing::inline v1::internal
