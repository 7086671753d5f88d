#include "tracing_core/dispatch/dispatcher.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <vector>

#include "tracing_core/dispatch/level_gate.h"
#include "tracing_core/dispatch/shown_values.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/internal/loaded_object.h"
#include "tracing_core/internal/never_destroyed.h"
#include "tracing_core/internal/span_clock.h"

namespace tracing::inline v1 {
namespace {

using internal::InSubscriber;
using internal::thread_state;
using internal::ThreadState;

constinit std::atomic<std::uint64_t> gate_holder{0};  // zero: nobody

// Where records go while there is no subscriber.
class NoSubscriber final : public Subscriber {
 public:
  Registration register_callsite(Metadata const&) noexcept override { return {}; }
  LevelFilter max_level_hint() const noexcept override { return LevelFilter::off; }
  Verdict enabled(Metadata const&) noexcept override { return 0; }
  SpanId new_span(NewSpan const&) noexcept override { return {}; }
  void record(SpanId, FieldValues const&) noexcept override {}
  void follows_from(SpanId, SpanId) noexcept override {}
  void event(Event const&) noexcept override {}
  void enter(SpanId, Origin const&) noexcept override {}
  void exit(SpanId, Origin const&) noexcept override {}
  void add_reference(SpanId) noexcept override {}
  void drop_reference(SpanId, Origin const&) noexcept override {}
  OpenSpan open_scope(Metadata const&, Verdict, Value const*) noexcept override { return {}; }
};
constinit internal::NeverDestroyed<NoSubscriber> no_subscriber;

// Everything that changes rarely. One lock; the hot path reads only the atomics.
struct Shared {
  std::mutex mutex;
  Callsite* callsites = nullptr;                      // guarded by mutex
  std::vector<std::weak_ptr<Subscriber>> subscribers;  // guarded by mutex; every one that may be asked
  std::shared_ptr<Subscriber> global_owner;           // guarded by mutex
  std::atomic<Subscriber*> global{&*no_subscriber};
  std::size_t silenced_threads = 0;  // guarded by mutex; threads whose records go nowhere
};

constinit internal::NeverDestroyed<Shared> shared;

constinit std::atomic<void (*)() noexcept> rebuild_listener{nullptr};

using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

// REQUIRES: shared->mutex held. Those that are alive; forgets the others. The result is to be destroyed without the lock,
// since it may hold the last reference.
Subscribers live_subscribers() {
  Subscribers live;
  std::erase_if(shared->subscribers, [&live](std::weak_ptr<Subscriber> const& weak) {
    auto subscriber = weak.lock();
    if (subscriber == nullptr) return true;
    live.push_back(std::move(subscriber));
    return false;
  });
  return live;
}

void report_second_copy() noexcept {
  internal::CopyNames names;
  if (!internal::find_earlier_copy(names)) return;
  char line[2 * sizeof(names.own) + 512];
  int const size =
      std::snprintf(line, sizeof(line),
                    "tracing: two copies of tracing::core are loaded, one in %s, one in %s; what one emits the other "
                    "does not see. Link it shared, or let the executable export its symbols (ENABLE_EXPORTS).\n",
                    names.earlier, names.own);
  if (size > 0 && write(STDERR_FILENO, line, static_cast<std::size_t>(size)) < 0) return;  // nobody to tell
}

// Before there are threads: a child that is forked while one of them is about to do something the first time would wait for
// that thread, which it does not have.
[[gnu::constructor]] void prepare_fork() noexcept {
  pthread_atfork([] { shared->mutex.lock(); }, [] { shared->mutex.unlock(); }, [] { shared->mutex.unlock(); });
}

void report_second_copy_once() noexcept {
  static constinit std::atomic<bool> reported{false};
  if (!reported.load(std::memory_order_relaxed) && !reported.exchange(true)) report_second_copy();
}

}  // namespace

namespace internal {

constinit thread_local ThreadState thread_state;

}  // namespace internal

// What the dispatcher may do to a callsite.
class CallsiteAccess {
 public:
  // REQUIRES: shared->mutex held.
  static void add(Callsite& callsite) noexcept {
    callsite.next_ = shared->callsites;
    shared->callsites = &callsite;
  }
  static void remove(Callsite& callsite) noexcept {
    for (Callsite** at = &shared->callsites; *at != nullptr; at = &(*at)->next_) {
      if (*at != &callsite) continue;
      *at = callsite.next_;
      return;
    }
  }
  static Callsite* next(Callsite const& callsite) noexcept { return callsite.next_; }
  static Verdict ask(Callsite& callsite, std::uint64_t answer) noexcept;
  static bool is_registered(Callsite const& callsite) noexcept {
    return callsite.state_.load(std::memory_order_relaxed) != Callsite::kUnregistered;
  }

  // What one subscriber answers is kept as it is if it receives every thread's records. Else threads differ: each asks.
  static void update(Callsite& callsite, Subscribers const& live) noexcept {
    Registration result;
    bool first = true;
    bool const alone = live.size() == 1 && live.front() == shared->global_owner && shared->silenced_threads == 0;
    for (auto const& subscriber : live) {
      Registration one;
      if (callsite.metadata().level() <= subscriber->max_level_hint()) one = subscriber->register_callsite(callsite.metadata());
      if (first) {
        result = one;
      } else if (one.interest != Interest::never) {
        result.interest = Interest::sometimes;
      }
      first = false;
    }
    if (!alone && result.interest != Interest::never) result = {Interest::sometimes, 0, Callsite::kAskAnew};
    callsite.answer_.store(Callsite::answer_of(result), std::memory_order_release);
    bool const by_gate = result.by_gate && result.interest == Interest::sometimes;
    callsite.state_.store(by_gate ? Callsite::kByGate : static_cast<std::uint8_t>(result.interest), std::memory_order_release);
  }
};

namespace {

// REQUIRES: shared->mutex held.
void rebuild_all(Subscribers& live) {
  live = live_subscribers();
  for (Callsite* callsite = shared->callsites; callsite != nullptr; callsite = CallsiteAccess::next(*callsite)) {
    CallsiteAccess::update(*callsite, live);
  }
}

// Asks for every callsite anew where `change`, called with the lock held, says that something changed.
template <class F>
void rebuild_after(F&& change) {
  {
    InSubscriber const in_subscriber;
    Subscribers live;  // destroyed without the lock
    std::lock_guard const lock(shared->mutex);
    if (!change()) return;
    rebuild_all(live);
  }
  if (auto* const listener = rebuild_listener.load(std::memory_order_acquire)) listener();
}

void register_callsite(Callsite& callsite) noexcept {
  report_second_copy_once();
  if (!callsite.metadata().parts().owned) internal::keep_loaded(&callsite);
  InSubscriber const in_subscriber;
  Subscribers live;
  std::lock_guard const lock(shared->mutex);
  if (callsite.metadata().is_perf()) internal::start_span_clock();
  if (CallsiteAccess::is_registered(callsite)) return;
  CallsiteAccess::add(callsite);
  live = live_subscribers();
  CallsiteAccess::update(callsite, live);
}

void add_subscriber(std::shared_ptr<Subscriber> const& subscriber) {
  report_second_copy_once();
  rebuild_after([&] {
    bool const known = std::any_of(shared->subscribers.begin(), shared->subscribers.end(),
                                   [&](auto const& weak) { return weak.lock() == subscriber; });
    if (!known) shared->subscribers.push_back(subscriber);
    return !known;
  });
}

Subscriber& current() noexcept {
  Subscriber* const own = thread_state.subscriber;
  if (own != nullptr) [[unlikely]] return *own;
  return *shared->global.load(std::memory_order_acquire);
}

}  // namespace

// The answer may be newer than the state, so it alone tells whom to ask. Inline: the members below are asked through the
// library's table of functions, and not from here once more.
[[gnu::always_inline]] inline Verdict CallsiteAccess::ask(Callsite& callsite, std::uint64_t answer) noexcept {
  auto const wanted = static_cast<Verdict>(answer);
  auto const undecided = static_cast<Verdict>(answer >> 32) & Callsite::kAskAnew;
  if (undecided == Callsite::kAskAnew) [[unlikely]] return callsite.ask_anew();
  if (callsite.state_.load(std::memory_order_relaxed) == Callsite::kByGate) [[likely]] {
    ThreadState const& thread = thread_state;
    if (thread.gate_holder == gate_holder.load(std::memory_order_relaxed)) [[likely]] {
      return callsite.level_ <= thread.gate_level ? wanted | undecided : wanted;
    }
  }
  if (thread_state.in_subscriber) return 0;
  return current().enabled_now(*callsite.metadata_, wanted, undecided);
}

Verdict Callsite::ask(std::uint64_t answer) noexcept { return CallsiteAccess::ask(*this, answer); }

Verdict Callsite::look_closer() noexcept {
  std::uint64_t const answer = answer_.load(std::memory_order_acquire);
  return is_final(answer) ? static_cast<Verdict>(answer) : CallsiteAccess::ask(*this, answer);
}

// The first time, and where threads have different subscribers.
Verdict Callsite::ask_anew() noexcept {
  if (thread_state.in_subscriber) return 0;
  if (state_.load(std::memory_order_acquire) == kUnregistered) register_callsite(*this);
  if (interest() == Interest::never) return 0;
  std::uint64_t const answer = answer_.load(std::memory_order_acquire);
  if (is_final(answer)) return static_cast<Verdict>(answer);
  Subscriber& subscriber = current();
  return metadata_->level() <= subscriber.max_level_hint() ? subscriber.enabled(*metadata_) : 0;
}

void visit_callsites(void (*visit)(void* context, Metadata const& metadata), void* context) {
  InSubscriber const in_subscriber;
  std::lock_guard const lock(shared->mutex);
  for (Callsite* callsite = shared->callsites; callsite != nullptr; callsite = CallsiteAccess::next(*callsite)) {
    visit(context, callsite->metadata());
  }
}

bool set_global_default(std::shared_ptr<Subscriber> subscriber) {
  if (subscriber == nullptr) return false;
  {
    std::lock_guard const lock(shared->mutex);
    if (shared->global_owner != nullptr) return false;
    shared->global_owner = subscriber;
    shared->global.store(subscriber.get(), std::memory_order_release);
  }
  add_subscriber(subscriber);
  return true;
}

Subscriber* current_subscriber() noexcept {
  Subscriber& subscriber = current();
  return &subscriber == &*no_subscriber ? nullptr : &subscriber;
}

ScopedDefault::ScopedDefault(std::shared_ptr<Subscriber> subscriber)
    : subscriber_(std::move(subscriber)), previous_(thread_state.subscriber) {
  if (subscriber_ != nullptr) {
    add_subscriber(subscriber_);
  } else {
    internal::silence_thread(true);
  }
  thread_state.subscriber = subscriber_ != nullptr ? subscriber_.get() : &*no_subscriber;
}

ScopedDefault::~ScopedDefault() {
  thread_state.subscriber = previous_;
  if (subscriber_ == nullptr) {
    internal::silence_thread(false);
  } else {
    subscriber_.reset();
    internal::forget_dead_subscribers();
  }
}

OpenSpan Subscriber::open_scope(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  InSubscriber const in_subscriber;
  SpanId const id = new_span(NewSpan{FieldValues(metadata, values), {}, verdict, {}});
  if (id) enter(id, Origin{});
  return {this, id};
}

void Subscriber::event_here(Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  InSubscriber const in_subscriber;
  event(Event{FieldValues(metadata, values), {}, verdict, {}});
}

void Subscriber::close_scope(SpanId span) noexcept {
  InSubscriber const in_subscriber;
  exit(span, Origin{});
  drop_reference(span, Origin{});
}

void rebuild_interest() {
  rebuild_after([] { return true; });
}

namespace internal {

bool claim_level_gate(std::uint64_t number) noexcept {
  std::uint64_t nobody = 0;
  return gate_holder.compare_exchange_strong(nobody, number) || nobody == number;
}

void release_level_gate(std::uint64_t number) noexcept { gate_holder.compare_exchange_strong(number, 0); }

void set_gate_level(std::uint64_t number, LevelFilter level) noexcept {
  if (gate_holder.load(std::memory_order_relaxed) != number) return;
  thread_state.gate_holder = number;
  thread_state.gate_level = level;
}

void forget_dead_subscribers() noexcept {
  rebuild_after([] {
    return std::any_of(shared->subscribers.begin(), shared->subscribers.end(), [](auto const& weak) { return weak.expired(); });
  });
}

void listen_to_rebuilds(void (*listener)() noexcept) noexcept { rebuild_listener.store(listener, std::memory_order_release); }

void forget_callsite(Callsite& callsite) noexcept {
  std::lock_guard const lock(shared->mutex);
  CallsiteAccess::remove(callsite);
}

void silence_thread(bool silent) noexcept {
  rebuild_after([silent] {
    shared->silenced_threads += silent ? 1 : -1;
    return true;
  });
}

void dispatch_event(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  if (thread_state.in_subscriber) [[unlikely]] return;
  if (current_redaction() != nullptr) [[unlikely]] return dispatch_shown_event(nullptr, metadata, verdict, values);
  current().event_here(metadata, verdict, values);
}

void dispatch_event_below(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent) noexcept {
  dispatch_event_at(callsite, verdict, values, parent, Origin{});
}

void dispatch_event_at(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent,
                       Origin const& origin) noexcept {
  if (thread_state.in_subscriber) return;
  InSubscriber const in_subscriber;
  auto const emit = [&](Value const* shown) {
    current().event(Event{FieldValues(callsite.metadata(), shown), parent, verdict, origin});
  };
  Redaction const* const redaction = current_redaction();
  redaction == nullptr ? emit(values) : with_shown(*redaction, callsite.metadata(), values, emit);
}

OpenSpan dispatch_new_span(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent) noexcept {
  return dispatch_new_span_at(callsite, verdict, values, parent, Origin{});
}

OpenSpan dispatch_new_span_at(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent,
                              Origin const& origin) noexcept {
  if (thread_state.in_subscriber) return {};
  Subscriber& subscriber = current();
  InSubscriber const in_subscriber;
  auto const open = [&](Value const* shown) {
    return subscriber.new_span(NewSpan{FieldValues(callsite.metadata(), shown), parent, verdict, origin});
  };
  Redaction const* const redaction = current_redaction();
  return {&subscriber, redaction == nullptr ? open(values) : with_shown(*redaction, callsite.metadata(), values, open)};
}

OpenSpan dispatch_open_scope(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept {
  if (thread_state.in_subscriber) [[unlikely]] return {};
  if (current_redaction() != nullptr) [[unlikely]] return dispatch_shown_scope(nullptr, metadata, verdict, values);
  return current().open_scope(metadata, verdict, values);
}

OpenSpan dispatch_open_scope_below(Callsite const& callsite, Verdict verdict, Value const* values, Parent parent) noexcept {
  OpenSpan const span = dispatch_new_span(callsite, verdict, values, parent);
  if (span.id) enter(span);
  return span;
}

void enter(OpenSpan span) noexcept {
  InSubscriber const in_subscriber;
  span.subscriber->enter(span.id, Origin{});
}

void exit(OpenSpan span) noexcept {
  InSubscriber const in_subscriber;
  span.subscriber->exit(span.id, Origin{});
}

void record(OpenSpan span, FieldValues const& values) noexcept {
  InSubscriber const in_subscriber;
  Redaction const* const redaction = current_redaction();
  if (redaction == nullptr) return span.subscriber->record(span.id, values);
  with_shown(*redaction, values.metadata(), values.statement_values(),
             [&](auto* shown) { span.subscriber->record(span.id, FieldValues(values.metadata(), shown)); });
}

void follows_from(OpenSpan span, SpanId cause) noexcept {
  InSubscriber const in_subscriber;
  span.subscriber->follows_from(span.id, cause);
}

void add_reference(OpenSpan span) noexcept {
  InSubscriber const in_subscriber;
  span.subscriber->add_reference(span.id);
}

void drop_reference(OpenSpan span) noexcept {
  InSubscriber const in_subscriber;
  span.subscriber->drop_reference(span.id, Origin{});
}

}  // namespace internal
}  // namespace tracing::inline v1
