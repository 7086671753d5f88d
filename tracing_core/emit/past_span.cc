#include "tracing_core/emit/past_span.h"

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 {
namespace {

using internal::thread_state;

// During its lifetime this thread's records go to `subscriber`, which has open spans. Changes nothing if it is null.
class UseSubscriber {
 public:
  explicit UseSubscriber(Subscriber* subscriber) noexcept : before_(thread_state.subscriber) {
    if (subscriber != nullptr) thread_state.subscriber = subscriber;
  }
  UseSubscriber(UseSubscriber const&) = delete;
  UseSubscriber& operator=(UseSubscriber const&) = delete;
  ~UseSubscriber() { thread_state.subscriber = before_; }

 private:
  Subscriber* before_;
};

// Callsites keep only the answers of live subscribers. A subscriber whose scope has ended, and which lives only as long
// as its open spans, is asked directly.
LayerMask mask_of(Callsite& callsite, Subscriber* to) noexcept {
  if (to == nullptr || to == current_subscriber()) return callsite.enabled();
  Metadata const& metadata = callsite.metadata();
  return metadata.level() <= to->max_level_hint() ? to->enabled(metadata) : 0;
}

}  // namespace

void emit_past_span(Callsite& callsite, Value const* values, Period const& period, Span const& cause) noexcept {
  if (thread_state.in_subscriber) return;
  LayerMask const mask = mask_of(callsite, cause.open().subscriber);
  if (mask == 0) return;
  UseSubscriber const use(cause.open().subscriber);
  Origin const begin{&period.track, period.begin};
  Origin const end{&period.track, period.end};
  auto const [subscriber, id] = internal::dispatch_new_span_at(callsite, mask, values, Parent::root(), begin);
  if (!id) return;
  if (cause) internal::follows_from({subscriber, id}, cause.id());
  internal::InSubscriber const in_subscriber;
  subscriber->enter(id, begin);
  subscriber->exit(id, end);
  subscriber->drop_reference(id, end);
}

}}  // namespace tracing::v1
