// Decides whether a callsite's record is wanted: by its cached answer if that is final, then by the thread level, and
// otherwise by its subscriber.
#include "tracing_core/dispatch/callsite.h"

#include "tracing_core/dispatch/callsite_registry.h"
#include "tracing_core/dispatch/current_subscriber.h"
#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/dispatch/thread_level.h"

namespace tracing { inline namespace v1 {

using internal::thread_state;
using internal::ThreadState;

// Decides by `answer` rather than by the state, which may be older. Inlined, because a call of ask() in enabled_slow()
// would go through the library's procedure linkage table.
[[gnu::always_inline]] inline LayerMask Callsite::decide(std::uint64_t answer) noexcept {
  auto const wanted = static_cast<LayerMask>(answer);
  auto const undecided = static_cast<LayerMask>(answer >> 32) & kQuerySubscriber;
  if (undecided == kQuerySubscriber) [[unlikely]]
    return query_subscriber();
  if (state_.load(std::memory_order_relaxed) == kByThreadLevel) [[likely]] {
    ThreadState const& thread = thread_state;
    if (thread.thread_level_owner == internal::thread_level_owner.load(std::memory_order_relaxed)) [[likely]]
      return level_ <= thread.thread_level ? wanted | undecided : wanted;
  }
  if (thread_state.in_subscriber) return internal::current().count_dropped(wanted), 0;
  return internal::current().enabled_now(*metadata_, wanted, undecided);
}

LayerMask Callsite::ask(std::uint64_t answer) noexcept { return decide(answer); }

LayerMask Callsite::enabled_slow() noexcept {
  std::uint64_t const answer = answer_.load(std::memory_order_acquire);
  return is_final(answer) ? static_cast<LayerMask>(answer) : decide(answer);
}

// Called for the callsite's first record, and for each record if threads have different subscribers.
LayerMask Callsite::query_subscriber() noexcept {
  if (thread_state.in_subscriber) {
    Subscriber& subscriber = internal::current();
    if (metadata_->level() <= subscriber.max_level_hint()) subscriber.count_dropped(~LayerMask{0});
    return 0;
  }
  if (state_.load(std::memory_order_acquire) == kUnregistered) internal::callsite_registry().add(*this);
  if (interest() == Interest::never) return 0;
  std::uint64_t const answer = answer_.load(std::memory_order_acquire);
  if (is_final(answer)) return static_cast<LayerMask>(answer);
  Subscriber& subscriber = internal::current();
  return metadata_->level() <= subscriber.max_level_hint() ? subscriber.enabled(*metadata_) : 0;
}

void visit_callsites(void (*visit)(void* context, Metadata const& metadata), void* context) {
  internal::callsite_registry().visit(visit, context);
}

}}  // namespace tracing::v1
