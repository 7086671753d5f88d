#include "tracing_core/emit/coroutine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tracing_core/emit/coroutine_test_support.h"

namespace coroutine_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Task<int> pausing(std::coroutine_handle<>& suspended) {
  TRACE_INFO("started");
  int const got = co_await Pause{&suspended};
  TRACE_INFO("resumed with {}", got);
  co_return got;
}

TEST_F(TracedPromise, RunsInTheSpanOfItsCaller) {
  std::coroutine_handle<> suspended;
  std::optional<Task<int>> task;
  {
    TRACE_SPAN(info, "caller");
    task.emplace(pausing(suspended));
    EXPECT_EQ(current(), "caller");
  }
  {
    TRACE_SPAN(info, "other");
    task->start();
    EXPECT_EQ(current(), "other");
  }
  EXPECT_EQ(current(), "none");
  suspended.resume();
  EXPECT_EQ(task->result(), 7);
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("caller: started", "close other", "caller: resumed with 7", "close caller"));
}

TEST_F(TracedPromise, RunsInTheInstrumentingSpan) {
  std::coroutine_handle<> suspended;
  TRACE_SPAN(info, "caller");
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request", tracing::parent(nullptr)), pausing(suspended));
  task.start();
  EXPECT_EQ(current(), "caller");
  EXPECT_THAT(take(), ElementsAre("request: started"));
  suspended.resume();
  EXPECT_THAT(take(), ElementsAre("request: resumed with 7", "close request"));
  EXPECT_EQ(current(), "caller");
}

Task<int> with_spans(std::coroutine_handle<>& suspended) {
  TRACE_FN(info);
  {
    TRACE_SPAN(info, "block");
    auto const handle = TRACE_MAKE_SPAN(info, "handle");
    auto const inside = handle.enter();
    TRACE_INFO("before");
    co_await Pause{&suspended};
    TRACE_INFO("after");
  }
  TRACE_INFO("outside");
  co_await Pause{&suspended};
  co_return 1;
}

TEST_F(TracedPromise, KeepsItsOwnSpansOverSuspensions) {
  std::coroutine_handle<> suspended;
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_spans(suspended));
  task.start();
  EXPECT_EQ(current(), "none");
  suspended.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("request/with_spans/block/handle: before", "request/with_spans/block/handle: after",
                                  "close handle", "close block", "request/with_spans: outside"));
  suspended.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close with_spans", "close request"));
}

TEST_F(TracedPromise, KeepsItsSpansOnOtherThreads) {
  std::coroutine_handle<> suspended;
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_spans(suspended));
  auto const elsewhere = [&](auto f) {
    std::thread([&] {
      tracing::ScopedDefault const scope(registry_);
      TRACE_SPAN(info, "thread");
      f();
      EXPECT_EQ(current(), "thread");
    }).join();
  };
  elsewhere([&] { task.start(); });
  elsewhere([&] { suspended.resume(); });
  suspended.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_EQ(task.result(), 1);
  EXPECT_THAT(take(), ElementsAre("request/with_spans/block/handle: before", "close thread",
                                  "request/with_spans/block/handle: after", "close handle", "close block",
                                  "request/with_spans: outside", "close thread", "close with_spans", "close request"));
}

TEST_F(TracedPromise, DoesNotEnterASpanThatTheThreadIsInAlready) {
  std::coroutine_handle<> suspended;
  {
    TRACE_SPAN(info, "outer");
    auto task = pausing(suspended);
    {
      TRACE_SPAN(info, "inner");
      task.start();  // it runs in `outer`, which the thread has entered already
      EXPECT_EQ(current(), "inner");
      suspended.resume();
      EXPECT_EQ(current(), "inner");
    }
    EXPECT_EQ(current(), "outer");
  }
  EXPECT_EQ(current(), "none");
}

Task<int> child(std::coroutine_handle<>& suspended) {
  TRACE_FN(info);
  TRACE_INFO("started");
  co_await Pause{&suspended};
  TRACE_INFO("resumed");
  co_return 2;
}
Task<int> parent(std::coroutine_handle<>& suspended) {
  TRACE_FN(info);
  TRACE_INFO("started");
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    TRACE_SPAN(info, "loop");
    sum += co_await child(suspended);
    TRACE_INFO("sum {}", sum);
  }
  co_return sum;
}

TEST_F(TracedPromise, IsBelowTheCoroutineThatAwaitsIt) {
  std::coroutine_handle<> suspended;
  auto task = parent(suspended);
  task.start();
  EXPECT_EQ(current(), "none");
  std::thread([&] { tracing::with_default(registry_, [&] { suspended.resume(); }); }).join();
  suspended.resume();
  EXPECT_EQ(task.result(), 4);
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("parent: started", "parent/loop/child: started", "parent/loop/child: resumed",
                                  "close child", "parent/loop: sum 2", "close loop", "parent/loop/child: started",
                                  "parent/loop/child: resumed", "close child", "parent/loop: sum 4", "close loop",
                                  "close parent"));
}

// ---- awaiters ----

template <class Result>
struct Suspending {
  Result result;
  std::coroutine_handle<>* suspended;
  bool await_ready() { return false; }
  Result await_suspend(std::coroutine_handle<> h) {
    TRACE_INFO("in await_suspend");
    *suspended = h;
    return result;
  }
  char const* await_resume() {
    TRACE_INFO("in await_resume");
    return "resumed";
  }
};
struct MemberOperator {
  Pause pause;
  Pause& operator co_await() && { return pause; }
};
struct FreeOperator {
  Pause pause;
};
Pause operator co_await(FreeOperator x) { return x.pause; }
struct Unmovable {
  explicit Unmovable(std::coroutine_handle<>* to) : suspended(to) {}
  Unmovable(Unmovable const&) = delete;
  Unmovable& operator=(Unmovable const&) = delete;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) { *suspended = h; }
  std::unique_ptr<int> await_resume() { return std::make_unique<int>(3); }
  std::coroutine_handle<>* suspended;
};

Task<int> awaits_everything(std::coroutine_handle<>& suspended) {
  TRACE_SPAN(info, "s");
  co_await std::suspend_never();
  char const* text = co_await Suspending<bool>{true, &suspended};
  TRACE_INFO("{}", text);
  text = co_await Suspending<bool>{false, &suspended};
  TRACE_INFO("{}", text);
  text = co_await Suspending<std::coroutine_handle<>>{std::noop_coroutine(), &suspended};
  TRACE_INFO("{}", text);
  int number = co_await MemberOperator{{&suspended}};
  TRACE_INFO("member {}", number);
  number = co_await FreeOperator{{&suspended}};
  TRACE_INFO("free {}", number);
  Pause pause{&suspended};
  number = co_await pause;
  TRACE_INFO("lvalue {}", number);
  auto const owned = co_await Unmovable(&suspended);
  TRACE_INFO("unmovable {}", tracing::kv("got", *owned));
  co_return 0;
}

TEST_F(TracedPromise, AcceptsEveryKindOfAwaiter) {
  std::coroutine_handle<> suspended;
  auto task = awaits_everything(suspended);
  task.start();
  while (!task.done()) {
    EXPECT_EQ(current(), "none");
    std::exchange(suspended, {}).resume();
  }
  EXPECT_THAT(take(),
              ElementsAre(": in await_suspend", "s: in await_resume", "s: resumed", ": in await_suspend",
                          "s: in await_resume", "s: resumed", ": in await_suspend", "s: in await_resume", "s: resumed",
                          "s: member 7", "s: free 7", "s: lvalue 7", "s: unmovable 3", "close s"));
}

struct Throwing {
  int where;
  bool await_ready() const {
    if (where == 0) throw std::runtime_error("ready");
    return false;
  }
  bool await_suspend(std::coroutine_handle<>) const {
    if (where == 1) throw std::runtime_error("suspend");
    return false;
  }
  void await_resume() const { throw std::runtime_error("resume"); }
};

Task<int> catches() {
  TRACE_FN(info);
  for (int where = 0; where < 3; ++where) {
    try {
      TRACE_SPAN(info, "tried");
      co_await Throwing{where};
    } catch (std::exception const& e) {
      TRACE_INFO("caught {}", e.what());
    }
  }
  co_return 0;
}

TEST_F(TracedPromise, EntersItsSpansAgainIfAnAwaiterThrows) {
  auto task = catches();
  task.start();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close tried", "catches: caught ready", "close tried", "catches: caught suspend",
                                  "close tried", "catches: caught resume", "close catches"));
}

Task<int> throws(std::coroutine_handle<>& suspended) {
  TRACE_FN(info);
  co_await Pause{&suspended};
  throw std::runtime_error("lost");
}
Task<int> awaits_thrower(std::coroutine_handle<>& suspended) {
  TRACE_FN(info);
  try {
    co_await throws(suspended);
  } catch (std::exception const& e) {
    TRACE_INFO("caught {}", e.what());
  }
  co_return 0;
}

TEST_F(TracedPromise, LeavesItsSpansByAnException) {
  std::coroutine_handle<> suspended;
  auto task = awaits_thrower(suspended);
  task.start();
  suspended.resume();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close throws", "awaits_thrower: caught lost", "close awaits_thrower"));
}

// ---- many ----

TEST_F(TracedPromise, DoesNothingWithoutASubscriber) {
  tracing::ScopedDefault const no_subscriber(nullptr);
  std::coroutine_handle<> suspended;
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_spans(suspended));
  task.start();
  suspended.resume();
  suspended.resume();
  EXPECT_EQ(task.result(), 1);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(TracedPromise, MayStartBeforeThereIsASubscriber) {
  std::coroutine_handle<> suspended;
  auto task = tracing::with_default(nullptr, [&] {
    auto early = with_spans(suspended);
    early.start();
    return early;
  });
  TRACE_SPAN(info, "late");
  suspended.resume();
  suspended.resume();
  EXPECT_EQ(current(), "late");
  EXPECT_THAT(take(), ElementsAre("late: after", "late: outside"));
}

Task<int> alternates(std::vector<std::coroutine_handle<>>& places, int number) {
  TRACE_SPAN(info, "alternating", number);
  auto const mine = tracing::Span::current().id();
  int wrong = 0;
  for (int i = 0; i < 200; ++i) {
    TRACE_SPAN(info, "step", i);
    co_await Pause{&places[static_cast<std::size_t>(number)]};
    if (tracing::Span::current().metadata()->name() != "step") ++wrong;
  }
  if (tracing::Span::current().id() != mine) ++wrong;
  co_return wrong;
}

TEST_F(TracedPromise, KeepsSpansOfManyCoroutinesOnTwoThreads) {
  constexpr int kTasks = 8;
  std::vector<std::coroutine_handle<>> places(kTasks);
  std::vector<Task<int>> tasks;
  for (int i = 0; i < kTasks; ++i) tasks.push_back(alternates(places, i));
  for (auto& task : tasks) task.start();
  // The threads take turns: each resumes one half of the tasks in even rounds, the other half in odd ones.
  std::atomic<int> arrived{0};
  auto const work = [&](int half) {
    tracing::ScopedDefault const scope(registry_);
    for (int round = 0; round < 200; ++round) {
      for (int i = (half + round) % 2; i < kTasks; i += 2) places[static_cast<std::size_t>(i)].resume();
      ++arrived;
      while (arrived < 2 * (round + 1)) std::this_thread::yield();
    }
    EXPECT_EQ(current(), "none");
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  for (auto& task : tasks) {
    ASSERT_TRUE(task.done());
    EXPECT_EQ(task.result(), 0);
  }
  tasks.clear();
  EXPECT_FALSE(registry_->has_open_spans());
}

}}  // namespace coroutine_test
