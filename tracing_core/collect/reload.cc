// Users mark what they use in a place of their own thread, then look whether it is still the current one. Whoever exchanges
// it makes all threads pass a barrier, then looks at the marks: a thread whose mark it does not see will see the exchange.
// So users need no barrier (asymmetric hazard pointers: Michael 2004; sys_membarrier(2)).
#include "tracing_core/collect/reload.h"

#include <pthread.h>
#include <time.h>

#include <array>

#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/internal/barriers.h"

namespace tracing::inline v1 {
namespace {

// What one thread uses, the innermost last.
struct Marks {
  std::array<std::atomic<void*>, 8> marks{};
  std::size_t depth = 0;  // of its thread alone
  std::atomic<bool> taken{true};
  Marks* next = nullptr;
};

constinit std::atomic<Marks*> all_marks{nullptr};
constinit std::atomic<std::uint64_t> leaked{0};
constinit thread_local Marks* own_marks = nullptr;

// The thread ends: another may use its marks.
void give_back(void* marks) noexcept {
  own_marks = nullptr;
  static_cast<Marks*>(marks)->taken.store(false, std::memory_order_release);
}

// Only the thread that forked is left.
void forget_other_threads() noexcept {
  for (Marks* marks = all_marks.load(std::memory_order_acquire); marks != nullptr; marks = marks->next) {
    if (marks == own_marks) continue;
    for (auto& mark : marks->marks) mark.store(nullptr, std::memory_order_relaxed);
  }
}

pthread_key_t set_up() noexcept {
  pthread_key_t key{};
  pthread_key_create(&key, give_back);
  pthread_atfork(nullptr, nullptr, forget_other_threads);
  internal::prepare_barriers();
  return key;
}

[[gnu::cold, gnu::noinline]] Marks* find_marks() noexcept {
  static pthread_key_t const key = set_up();
  Marks* marks = all_marks.load(std::memory_order_acquire);
  while (marks != nullptr && marks->taken.exchange(true, std::memory_order_acq_rel)) marks = marks->next;
  if (marks == nullptr) {
    marks = new (std::nothrow) Marks;
    if (marks == nullptr) return nullptr;
    marks->next = all_marks.load(std::memory_order_relaxed);
    while (!all_marks.compare_exchange_weak(marks->next, marks, std::memory_order_acq_rel)) {
    }
  }
  marks->depth = 0;
  pthread_setspecific(key, marks);
  return own_marks = marks;
}

bool is_used(void const* old) noexcept {
  for (Marks const* marks = all_marks.load(std::memory_order_acquire); marks != nullptr; marks = marks->next) {
    for (auto const& mark : marks->marks) {
      if (mark.load(std::memory_order_acquire) == old) return true;
    }
  }
  return false;
}

}  // namespace

namespace internal {

InUse::InUse(std::atomic<void*> const& place) noexcept {
  Marks* const marks = own_marks != nullptr ? own_marks : find_marks();
  if (marks == nullptr || marks->depth == marks->marks.size()) [[unlikely]] return;
  mark_ = &marks->marks[marks->depth++];
  void* seen = place.load(std::memory_order_acquire);
  do {
    used_ = seen;
    mark_->store(used_, std::memory_order_release);
    light_barrier();  // between its mark and its second look at the place
    seen = place.load(std::memory_order_acquire);
  } while (seen != used_);
}

InUse::~InUse() {
  if (mark_ == nullptr) [[unlikely]] return;
  mark_->store(nullptr, std::memory_order_release);
  --own_marks->depth;
}

bool wait_until_unused(void const* old) noexcept {
  heavy_barrier();
  constexpr int kMostTries = 1000;
  for (int tries = 0; is_used(old); ++tries) {
    if (tries == kMostTries) return false;
    timespec const pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

bool called_by_subscriber() noexcept { return thread_state.in_subscriber; }
void count_leaked() noexcept { leaked.fetch_add(1, std::memory_order_relaxed); }

namespace {

class ReloadableFilter final : public Filter {
 public:
  explicit ReloadableFilter(std::shared_ptr<ExchangePlace<Filter>> place) noexcept : place_(std::move(place)) {}

  Interest callsite_enabled(Metadata const& metadata) noexcept override {
    return use(Interest::always, [&](Filter& filter) { return filter.callsite_enabled(metadata); });
  }
  bool enabled(Metadata const& metadata) noexcept override {
    return use(true, [&](Filter& filter) { return filter.enabled(metadata); });
  }
  bool enabled_now(Metadata const& metadata) noexcept override {
    return use(true, [&](Filter& filter) { return filter.enabled_now(metadata); });
  }
  bool event_enabled(Event const& event) noexcept override {
    return use(true, [&](Filter& filter) { return !filter.wants_events() || filter.event_enabled(event); });
  }
  LevelFilter max_level_hint() const noexcept override {
    return use(LevelFilter::trace, [](Filter& filter) { return filter.max_level_hint(); });
  }
  // Of the first one: what a registry asks once.
  PerfRole perf_role() const noexcept override {
    return use(PerfRole::none, [](Filter& filter) { return filter.perf_role(); });
  }
  // A later one may, and is asked.
  bool wants_events() const noexcept override { return true; }
  bool follows_spans() const noexcept override { return true; }

  void on_new_span(NewSpan const& span, std::uintptr_t& state) noexcept override {
    InUse const in_use(place_->current);
    auto* const current = static_cast<Exchangeable<Filter>*>(in_use.get());
    if (current == nullptr || current->object == nullptr || !current->object->follows_spans()) return;
    std::uintptr_t own = 0;
    current->object->on_new_span(span, own);
    if (own == 0) return;
    auto* const kept = new (std::nothrow) Kept{current, own};
    if (kept == nullptr) return current->object->on_close(own);
    current->hold();
    state = reinterpret_cast<std::uintptr_t>(kept);
  }
  void on_record(FieldValues const& values, std::uintptr_t& state) noexcept override {
    kept(state).filter().on_record(values, kept(state).state);
  }
  void on_enter(std::uintptr_t state) noexcept override { kept(state).filter().on_enter(kept(state).state); }
  void on_exit(std::uintptr_t state) noexcept override { kept(state).filter().on_exit(kept(state).state); }
  void on_close(std::uintptr_t state) noexcept override {
    std::unique_ptr<Kept> const closing(&kept(state));
    closing->filter().on_close(closing->state);
    closing->owner->let_go();
  }

 private:
  // What the filter that saw a span made keeps with it.
  struct Kept {
    Exchangeable<Filter>* owner;
    std::uintptr_t state;
    Filter& filter() const noexcept { return *owner->object; }
  };
  static Kept& kept(std::uintptr_t state) noexcept { return *reinterpret_cast<Kept*>(state); }

  template <class R, class F>
  R use(R without, F&& f) const noexcept {
    InUse const in_use(place_->current);
    auto const* const current = static_cast<Exchangeable<Filter> const*>(in_use.get());
    return current == nullptr || current->object == nullptr ? without : f(*current->object);
  }

  std::shared_ptr<ExchangePlace<Filter>> place_;
};

class ReloadableLayer final : public Layer {
 public:
  explicit ReloadableLayer(std::shared_ptr<ExchangePlace<Layer>> place) noexcept : place_(std::move(place)) {}

  void on_new_span(SpanRef span, NewSpan const& made, Context const& context) noexcept override {
    use(Hooks::new_span, [&](Layer& layer) { layer.on_new_span(span, made, context); });
  }
  void on_record(SpanRef span, FieldValues const& values, Context const& context) noexcept override {
    use(Hooks::record, [&](Layer& layer) { layer.on_record(span, values, context); });
  }
  void on_follows_from(SpanRef span, SpanRef cause, Context const& context) noexcept override {
    use(Hooks::follows_from, [&](Layer& layer) { layer.on_follows_from(span, cause, context); });
  }
  void on_event(Event const& event, Context const& context) noexcept override {
    use(Hooks::event, [&](Layer& layer) { layer.on_event(event, context); });
  }
  void on_enter(SpanRef span, Context const& context) noexcept override {
    use(Hooks::enter, [&](Layer& layer) { layer.on_enter(span, context); });
  }
  void on_exit(SpanRef span, Context const& context) noexcept override {
    use(Hooks::exit, [&](Layer& layer) { layer.on_exit(span, context); });
  }
  void on_close(SpanRef span, Context const& context) noexcept override {
    use(Hooks::close, [&](Layer& layer) { layer.on_close(span, context); });
  }
  void on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept override {
    use(Hooks::timed, [&](Layer& layer) { layer.on_timed(span, timing, context); });
  }
  void flush() noexcept override {
    use(Hooks::all, [](Layer& layer) { layer.flush(); });
  }

 private:
  template <class F>
  void use(Hooks hook, F&& f) noexcept {
    InUse const in_use(place_->current);
    auto const* const current = static_cast<Exchangeable<Layer> const*>(in_use.get());
    if (current == nullptr || current->object == nullptr) return;
    if (hook == Hooks::all || has(current->object->hooks(), hook)) f(*current->object);
  }

  std::shared_ptr<ExchangePlace<Layer>> place_;
};

}  // namespace

std::unique_ptr<Filter> make_reloadable(std::shared_ptr<ExchangePlace<Filter>> place) {
  return std::make_unique<ReloadableFilter>(std::move(place));
}
std::unique_ptr<Layer> make_reloadable(std::shared_ptr<ExchangePlace<Layer>> place) {
  return std::make_unique<ReloadableLayer>(std::move(place));
}

}  // namespace internal

std::uint64_t reloads_leaked() noexcept { return leaked.load(std::memory_order_relaxed); }

}  // namespace tracing::inline v1
