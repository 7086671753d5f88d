// traced_promise keeps a coroutine in its spans, whatever thread resumes it; instrument() runs a coroutine in a span.
//
// Not part of tracing.h: <coroutine> takes longer to compile than all of tracing.h.
#pragma once

#include "tracing_core/support/cxx20.h"  // before <coroutine>, which has its own error below C++20

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracing_core/emit/span.h"

namespace tracing { inline namespace v1 {
namespace internal {

// The spans of one coroutine. Only one thread uses the object at a time, just as the coroutine.
class CoroutineSpans {
 public:
  CoroutineSpans() noexcept : outer_(Span::current()) {}
  CoroutineSpans(CoroutineSpans const&) = delete;
  CoroutineSpans& operator=(CoroutineSpans const&) = delete;
  ~CoroutineSpans() { leave(); }

  // Sets the span that the entire coroutine runs in. Does nothing while the coroutine runs.
  void set_outer(Span span) noexcept {
    if (!is_entered_) outer_ = std::move(span);
  }
  // Called when the coroutine resumes on this thread: enters the outer span, then the spans that leave() left.
  void enter() noexcept;
  // Called when the coroutine is suspended: leaves all spans entered since enter().
  void leave() noexcept;
  // Called when the coroutine has ended: leaves and releases all spans.
  void finish() noexcept;

 private:
  Span outer_;
  Subscriber* subscriber_ = nullptr;  // subscriber of the thread that the coroutine runs on, or null
  SpanId thread_span_{};              // current span of this thread before enter()
  bool is_entered_ = false;
  bool entered_outer_ = false;  // false if the thread was in the outer span already
  std::vector<Span> inner_;     // while suspended: the spans that the coroutine itself entered, innermost first
};

template <class P>
concept TracedPromise = requires(P& promise) {
  { promise.tracing_spans() } -> std::same_as<CoroutineSpans&>;
};

// Returns the awaiter of `co_await a`, found by the rules of the language.
template <class A>
decltype(auto) awaiter_of(A&& a) {
  if constexpr (requires { static_cast<A&&>(a).operator co_await(); }) {
    return static_cast<A&&>(a).operator co_await();
  } else if constexpr (requires { operator co_await(static_cast<A&&>(a)); }) {
    return operator co_await(static_cast<A&&>(a));
  } else {
    return static_cast<A&&>(a);
  }
}

// Calls f() when destroyed, unless disarmed.
template <class F>
class OnThrow {
 public:
  explicit OnThrow(F f) noexcept : f_(f) {}
  OnThrow(OnThrow const&) = delete;
  OnThrow& operator=(OnThrow const&) = delete;
  ~OnThrow() {
    if (armed_) f_();
  }
  void disarm() noexcept { armed_ = false; }

 private:
  F f_;
  bool armed_ = true;
};

// Wraps the awaiter of `Awaitable`, which is a reference or the result of a promise's function. Leaves the coroutine's
// spans while the coroutine is suspended.
template <class Awaitable, bool kInitial = false>
class TracedAwaiter {
 public:
  template <class Make>
  TracedAwaiter(CoroutineSpans& spans, Make&& make)
      : spans_(spans), awaitable_(make()), awaiter_(awaiter_of(static_cast<Awaitable&&>(awaitable_))) {}
  TracedAwaiter(TracedAwaiter const&) = delete;
  TracedAwaiter& operator=(TracedAwaiter const&) = delete;
  // If the coroutine is destroyed while suspended, enters its spans again: events from the destructors of its variables
  // belong to them.
  ~TracedAwaiter() {
    if (is_suspended_ && !kInitial) spans_.enter();
  }

  decltype(auto) await_ready() noexcept(noexcept(std::declval<Awaiter&>().await_ready())) {
    return awaiter_.await_ready();
  }

  // Once the awaiter has the coroutine's handle, another thread may resume or destroy the coroutine, so no member is
  // used afterwards. Not inlined, since Clang would keep the variables in the coroutine's frame (llvm.org/PR56301).
  template <class P>
  [[gnu::noinline]] auto await_suspend(std::coroutine_handle<P> coroutine) noexcept(
      noexcept(std::declval<Awaiter&>().await_suspend(coroutine))) {
    using Result = decltype(awaiter_.await_suspend(coroutine));
    is_suspended_ = true;
    spans_.leave();
    OnThrow resume([this] {  // runs if the coroutine was not suspended after all
      is_suspended_ = false;
      if (!kInitial) spans_.enter();
    });
    if constexpr (std::is_void_v<Result>) {
      awaiter_.await_suspend(coroutine);
      resume.disarm();
    } else {
      Result result = awaiter_.await_suspend(coroutine);
      resume.disarm();
      return result;
    }
  }

  decltype(auto) await_resume() noexcept(noexcept(std::declval<Awaiter&>().await_resume())) {
    if (is_suspended_ || kInitial) spans_.enter();
    is_suspended_ = false;
    return awaiter_.await_resume();
  }

 private:
  using Awaiter = decltype(awaiter_of(std::declval<Awaitable>()));

  CoroutineSpans& spans_;
  bool is_suspended_ = false;
  Awaitable awaitable_;
  Awaiter awaiter_;
};

// Finds out if a promise has an await_transform(), which then decides what may be awaited, even if it is deleted.
struct HasAwaitTransform {
  void await_transform();
};
template <class Base>
struct WithBothNames : Base, HasAwaitTransform {};
template <class Base>
inline constexpr bool kTransforms = !requires {
  &WithBothNames<Base>::await_transform;
};

}  // namespace internal

#if defined(TRACING_DISABLED)
inline namespace disabled {

template <class Base>
class traced_promise : public Base {
 public:
  using Base::Base;
};

template <class Task>
Task instrument(Span const&, Task task) {
  return task;
}

}  // namespace disabled
#else

/// A coroutine's promise that keeps the coroutine in its spans: `using promise_type = tracing::traced_promise<Base>`,
/// where Base is the promise without tracing. The coroutine runs in the span that was current when it was called,
/// unless instrument() sets another span. At every suspension it leaves this span and all spans that it has entered
/// itself (TRACE_SPAN, TRACE_FN, enter()), and enters them again on the thread that resumes it. So the scope of a span
/// may contain co_await and co_yield, which is forbidden in other coroutines.
///
/// Base may have a constructor that takes the coroutine's arguments, an allocator, await_transform() and yield_value(),
/// and may make a std::coroutine_handle<Base> from itself. A suspension costs leaving and entering the spans, and an
/// atomic increment for each span.
template <class Base>
class traced_promise : public Base {
  static_assert(std::is_class_v<Base> && !std::is_final_v<Base>,
                "tracing::traced_promise<Base> derives from Base, which must be a class that is not final");

 public:
  using Base::Base;

  auto initial_suspend() {
    using Awaitable = decltype(Base::initial_suspend());
    return internal::TracedAwaiter<Awaitable, true>(tracing_spans_,
                                                    [this]() -> Awaitable { return Base::initial_suspend(); });
  }

  // When the final suspension begins, the variables of the body are destroyed: no more events can follow.
  decltype(auto) final_suspend() noexcept {
    tracing_spans_.finish();
    return Base::final_suspend();
  }

  void unhandled_exception() {
    internal::OnThrow tracing_guard([this] { tracing_spans_.finish(); });
    Base::unhandled_exception();
    tracing_guard.disarm();
  }

  template <class A>
  requires(!internal::kTransforms<Base>) auto await_transform(A&& tracing_awaited) {
    return internal::TracedAwaiter<A&&>(tracing_spans_, [&]() -> A&& { return static_cast<A&&>(tracing_awaited); });
  }
  template <class A>
  requires internal::kTransforms<Base> && requires(Base& promise, A&& x) {
    promise.await_transform(static_cast<A&&>(x));
  }
  auto await_transform(A&& tracing_awaited) {
    using Awaitable = decltype(Base::await_transform(static_cast<A&&>(tracing_awaited)));
    return internal::TracedAwaiter<Awaitable>(
        tracing_spans_, [&]() -> Awaitable { return Base::await_transform(static_cast<A&&>(tracing_awaited)); });
  }

  template <class V>
  requires requires(Base& promise, V&& x) { promise.yield_value(static_cast<V&&>(x)); }
  auto yield_value(V&& tracing_value) {
    using Awaitable = decltype(Base::yield_value(static_cast<V&&>(tracing_value)));
    return internal::TracedAwaiter<Awaitable>(
        tracing_spans_, [&]() -> Awaitable { return Base::yield_value(static_cast<V&&>(tracing_value)); });
  }

  // Used by instrument().
  internal::CoroutineSpans& tracing_spans() noexcept { return tracing_spans_; }

 private:
  internal::CoroutineSpans tracing_spans_;
};

/// Runs the coroutine `task` in `span` from its next resumption on: `run(tracing::instrument(span, fetch(url)))`. The
/// span is released when the coroutine ends or is destroyed. Task has a member handle() that returns the coroutine's
/// handle. If Task has no handle() or the coroutine starts at once, call the coroutine inside the span:
/// `span.in_scope([&] { return fetch(url); })`.
template <class Task>
Task instrument(Span span, Task task) {
  constexpr bool kIsTraced = internal::TracedPromise<typename Task::promise_type>;
  constexpr bool kHasHandle = requires { task.handle().promise(); };
  static_assert(kIsTraced,
                "tracing::instrument(span, task) needs a task whose promise_type mixes in tracing::traced_promise");
  static_assert(!kIsTraced || kHasHandle, "tracing::instrument(span, task) needs task.handle(): a coroutine handle");
  if constexpr (kIsTraced && kHasHandle) task.handle().promise().tracing_spans().set_outer(std::move(span));
  return task;
}

#endif

}}  // namespace tracing::v1
