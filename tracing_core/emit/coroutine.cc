#include "tracing_core/emit/coroutine.h"

#include "tracing_core/dispatch/dispatcher.h"

namespace tracing { inline namespace v1 { namespace internal {

void CoroutineSpans::enter() noexcept {
  if (is_entered_) return;
  is_entered_ = true;
  subscriber_ = current_subscriber();
  thread_span_ = subscriber_ == nullptr ? SpanId{} : subscriber_->current_span();
  bool const is_current = outer_.open().subscriber == subscriber_ && outer_.id() == thread_span_;
  entered_outer_ = outer_ && !is_current;
  if (entered_outer_) internal::enter(outer_.open());
  for (auto span = inner_.rbegin(); span != inner_.rend(); ++span) internal::enter(span->open());
  inner_.clear();
}

void CoroutineSpans::leave() noexcept {
  if (!is_entered_) return;
  is_entered_ = false;
  constexpr std::size_t kMaxDepth = 10'000;  // limits the depth, in case a subscriber keeps returning spans
  while (subscriber_ != nullptr && inner_.size() < kMaxDepth) {
    SpanId const id = subscriber_->current_span();
    bool const is_outer = entered_outer_ && outer_.open().subscriber == subscriber_ && id == outer_.id();
    if (!id || id == thread_span_ || is_outer) break;
    Metadata const* const metadata = subscriber_->metadata(id);
    if (metadata == nullptr) break;
    OpenSpan const open{subscriber_, id};
    internal::add_reference(open);
    Span span(open, *metadata);
    internal::exit(open);
    try {
      inner_.push_back(std::move(span));
    } catch (...) {  // out of memory: the span is left and not entered again
    }
  }
  if (entered_outer_) internal::exit(outer_.open());
}

void CoroutineSpans::finish() noexcept {
  leave();
  inner_.clear();
  outer_ = Span();
}

}}}  // namespace tracing::v1::internal
