// Declares traced_promise, which takes a coroutine's spans along from thread to thread, and instrument().
//
// Not part of tracing.h: coroutines cost the compiler more than the rest of it.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "tracing_core/emit/span.h"

namespace tracing::inline v1 {
namespace internal {

// What a coroutine knows of its spans. Single-thread at each moment, as the coroutine is.
class CoroutineSpans {
 public:
  CoroutineSpans() noexcept : around_(Span::current()) {}
  CoroutineSpans(CoroutineSpans const&) = delete;
  CoroutineSpans& operator=(CoroutineSpans const&) = delete;
  ~CoroutineSpans() { leave(); }

  // What the coroutine as a whole runs in. Nothing happens while it runs.
  void set_around(Span span) noexcept {
    if (!is_entered_) around_ = std::move(span);
  }
  // The coroutine goes on, on this thread: enters what it runs in, then what it was in itself.
  void enter() noexcept;
  // The coroutine stops, which perhaps goes on elsewhere: leaves what it has entered since enter().
  void leave() noexcept;
  // The coroutine has come to its end: holds no span any more.
  void finish() noexcept;

 private:
  Span around_;
  Subscriber* subscriber_ = nullptr;  // of the thread that it runs on; null where none
  SpanId below_{};                    // what that thread was in before
  bool is_entered_ = false;
  bool entered_around_ = false;  // not where the thread was in it anyway
  std::vector<Span> inner_;      // while it is suspended: those it was in itself, innermost first
};

template <class P>
concept TracedPromise = requires(P& promise) {
  { promise.tracing_spans() } -> std::same_as<CoroutineSpans&>;
};

// What `co_await a` asks, as the language finds it.
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

// Stands before the awaiter of `Awaitable`, a reference or what a promise made of one, and leaves the coroutine's spans
// while it is suspended.
template <class Awaitable, bool kInitial = false>
class TracedAwaiter {
 public:
  template <class Make>
  TracedAwaiter(CoroutineSpans& spans, Make&& make)
      : spans_(spans), awaitable_(make()), awaiter_(awaiter_of(static_cast<Awaitable&&>(awaitable_))) {}
  TracedAwaiter(TracedAwaiter const&) = delete;
  TracedAwaiter& operator=(TracedAwaiter const&) = delete;
  // Destroyed while suspended: what the coroutine's variables say in their destructors belongs to its spans.
  ~TracedAwaiter() {
    if (is_suspended_ && !kInitial) spans_.enter();
  }

  decltype(auto) await_ready() noexcept(noexcept(std::declval<Awaiter&>().await_ready())) {
    return awaiter_.await_ready();
  }

  // Once the awaiter knows of the coroutine, another thread may be in it, or it may be gone: nothing here is touched
  // any more. Not inlined, since Clang would keep the variables in the coroutine's frame (llvm.org/PR56301).
  template <class P>
  [[gnu::noinline]] auto await_suspend(std::coroutine_handle<P> coroutine) noexcept(
      noexcept(std::declval<Awaiter&>().await_suspend(coroutine))) {
    using Result = decltype(awaiter_.await_suspend(coroutine));
    Suspension suspension(*this);
    if constexpr (std::is_void_v<Result>) {
      awaiter_.await_suspend(coroutine);
      suspension.succeed();
    } else {
      Result result = awaiter_.await_suspend(coroutine);
      suspension.succeed();
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

  // Where the awaiter throws, the coroutine was never suspended.
  class Suspension {
   public:
    explicit Suspension(TracedAwaiter& awaiter) noexcept : awaiter_(&awaiter) {
      awaiter.is_suspended_ = true;
      awaiter.spans_.leave();
    }
    Suspension(Suspension const&) = delete;
    Suspension& operator=(Suspension const&) = delete;
    ~Suspension() {
      if (awaiter_ == nullptr) return;
      awaiter_->is_suspended_ = false;
      if (!kInitial) awaiter_->spans_.enter();
    }
    void succeed() noexcept { awaiter_ = nullptr; }

   private:
    TracedAwaiter* awaiter_;
  };

  CoroutineSpans& spans_;
  bool is_suspended_ = false;
  Awaitable awaitable_;
  Awaiter awaiter_;
};

// Whether the promise says itself what may be awaited: then any name `await_transform` decides, a deleted one too.
struct HasAwaitTransform {
  void await_transform();
};
template <class Base>
struct AmongBoth : Base, HasAwaitTransform {};
template <class Base>
inline constexpr bool kTransforms = !requires {
  &AmongBoth<Base>::await_transform;
};

// Calls f() on the way out unless told not to.
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

}  // namespace internal

#if defined(TRACING_DISABLED)

template <class Base>
class traced_promise : public Base {
 public:
  using Base::Base;
};

template <class Task>
Task instrument(Span const&, Task task) {
  return task;
}

#else

/// A coroutine's promise that takes its spans along: `using promise_type = tracing::traced_promise<Base>`, where Base is
/// the promise as it would be without tracing. The coroutine runs in the span that was current where it was called,
/// until instrument() says otherwise. At every suspension it leaves that span and all that it has entered itself (TRACE_SPAN,
/// TRACE_FN, enter()), and enters them again on the thread that resumes it. So spans may stand across co_await and
/// co_yield, which they may not in other coroutines.
///
/// Base may have a constructor that takes the coroutine's arguments, an allocator, await_transform() and yield_value()
/// of its own; it may make a std::coroutine_handle<Base> of itself. A suspension costs what leaving and entering the
/// spans does, and an atomic increment for each.
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

  // The body's variables are gone: it has nothing more to say.
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

  // For instrument().
  internal::CoroutineSpans& tracing_spans() noexcept { return tracing_spans_; }

 private:
  internal::CoroutineSpans tracing_spans_;
};

namespace internal {

template <class Task>
concept HasHandle = requires(Task& task) {
  task.handle().promise();
};
template <class Task>
concept GivesHandle = requires(Task& task) {
  tracing_coroutine(task).promise();
};
template <class Task>
concept HasTracedPromise = TracedPromise<typename Task::promise_type>;

}  // namespace internal

/// The coroutine `task` runs in `span` from its next resumption on: `run(tracing::instrument(span, fetch(url)))`. The
/// span is let go when the coroutine has come to its end or is destroyed. Task says which coroutine it stands for by a
/// member handle(), or by a function tracing_coroutine(task) beside it. Where it says neither, or begins at once, call
/// the coroutine inside the span: `span.in_scope([&] { return fetch(url); })`.
template <class Task>
Task instrument(Span span, Task task) {
  static_assert(internal::HasTracedPromise<Task>,
                "tracing::instrument(span, task) needs a task whose promise_type mixes in tracing::traced_promise");
  static_assert(!internal::HasTracedPromise<Task> || internal::HasHandle<Task> || internal::GivesHandle<Task>,
                "tracing::instrument(span, task) needs task.handle() or tracing_coroutine(task): a coroutine handle");
  if constexpr (internal::HasTracedPromise<Task> && internal::HasHandle<Task>) {
    task.handle().promise().tracing_spans().set_around(std::move(span));
  } else if constexpr (internal::HasTracedPromise<Task> && internal::GivesHandle<Task>) {
    tracing_coroutine(task).promise().tracing_spans().set_around(std::move(span));
  }
  return task;
}

#endif

}  // namespace tracing::inline v1
