// Chooses the subscriber that receives the records of the calling thread.
#include "tracing_core/dispatch/dispatcher.h"

#include "tracing_core/dispatch/callsite_registry.h"
#include "tracing_core/dispatch/current_subscriber.h"
#include "tracing_core/support/never_destroyed.h"

namespace tracing { inline namespace v1 {
namespace {

// Drops everything. It is the subscriber until the program sets another one.
class NoSubscriber final : public Subscriber {
 public:
  Registration register_callsite(Metadata const&) noexcept override { return {}; }
  LevelFilter max_level_hint() const noexcept override { return LevelFilter::off; }
  LayerMask enabled(Metadata const&) noexcept override { return 0; }
  SpanId new_span(NewSpan const&) noexcept override { return {}; }
  void record(SpanId, FieldValues const&) noexcept override {}
  void follows_from(SpanId, SpanId) noexcept override {}
  void event(Event const&) noexcept override {}
  void enter(SpanId, Origin const&) noexcept override {}
  void exit(SpanId, Origin const&) noexcept override {}
  void add_reference(SpanId) noexcept override {}
  void drop_reference(SpanId, Origin const&) noexcept override {}
  OpenSpan open_scope(Metadata const&, LayerMask, Value const*) noexcept override { return {}; }
};
constinit support::NeverDestroyed<NoSubscriber> no_subscriber;

}  // namespace

namespace internal {

constinit thread_local ThreadState thread_state;
constinit std::atomic<Subscriber*> global_subscriber{&*no_subscriber};

}  // namespace internal

using internal::callsite_registry;
using internal::thread_state;

bool set_global_default(std::shared_ptr<Subscriber> subscriber) {
  if (subscriber == nullptr || !callsite_registry().set_global(subscriber)) return false;
  internal::global_subscriber.store(subscriber.get(), std::memory_order_release);
  callsite_registry().add_subscriber(subscriber);
  return true;
}

Subscriber* current_subscriber() noexcept {
  Subscriber& subscriber = internal::current();
  return &subscriber == &*no_subscriber ? nullptr : &subscriber;
}

ScopedDefault::ScopedDefault(std::shared_ptr<Subscriber> subscriber)
    : subscriber_(std::move(subscriber)), previous_(thread_state.subscriber) {
  if (subscriber_ != nullptr) {
    callsite_registry().add_subscriber(subscriber_);
  } else {
    callsite_registry().silence_thread(true);
  }
  thread_state.subscriber = subscriber_ != nullptr ? subscriber_.get() : &*no_subscriber;
}

ScopedDefault::~ScopedDefault() {
  thread_state.subscriber = previous_;
  if (subscriber_ == nullptr) {
    callsite_registry().silence_thread(false);
  } else {
    subscriber_.reset();
    callsite_registry().remove_dead_subscribers();
  }
}

void rebuild_interest() { callsite_registry().rebuild(); }

namespace internal {

void forget_dead_subscribers() noexcept { callsite_registry().remove_dead_subscribers(); }
void forget_callsite(Callsite& callsite) noexcept { callsite_registry().remove(callsite); }

}  // namespace internal
}}  // namespace tracing::v1
