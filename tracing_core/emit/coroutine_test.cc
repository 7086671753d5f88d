#include "tracing_core/emit/coroutine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/emit/coroutine_test_support.h"

namespace coroutine_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Task<int> pausing(std::coroutine_handle<>& place) {
  TRACE_INFO("begins");
  int const got = co_await Pause{&place};
  TRACE_INFO("goes on with {}", got);
  co_return got;
}

TEST_F(TracedPromise, RunsInTheSpanThatItWasCalledIn) {
  std::coroutine_handle<> place;
  std::optional<Task<int>> task;
  {
    TRACE_SPAN(info, "caller");
    task.emplace(pausing(place));
    EXPECT_EQ(current(), "caller");
  }
  {
    TRACE_SPAN(info, "other");
    task->start();
    EXPECT_EQ(current(), "other");
  }
  EXPECT_EQ(current(), "none");
  place.resume();
  EXPECT_EQ(task->result(), 7);
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("caller: begins", "close other", "caller: goes on with 7", "close caller"));
}

TEST_F(TracedPromise, RunsInTheSpanThatItIsInstrumentedWith) {
  std::coroutine_handle<> place;
  TRACE_SPAN(info, "caller");
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request", tracing::parent(nullptr)), pausing(place));
  task.start();
  EXPECT_EQ(current(), "caller");
  EXPECT_THAT(take(), ElementsAre("request: begins"));
  place.resume();
  EXPECT_THAT(take(), ElementsAre("request: goes on with 7", "close request"));
  EXPECT_EQ(current(), "caller");
}

Task<int> with_spans(std::coroutine_handle<>& place) {
  TRACE_FN(info);
  {
    TRACE_SPAN(info, "block");
    auto const handle = TRACE_MAKE_SPAN(info, "handle");
    auto const inside = handle.enter();
    TRACE_INFO("before");
    co_await Pause{&place};
    TRACE_INFO("after");
  }
  TRACE_INFO("outside");
  co_await Pause{&place};
  co_return 1;
}

TEST_F(TracedPromise, TakesItsOwnSpansAlong) {
  std::coroutine_handle<> place;
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_spans(place));
  task.start();
  EXPECT_EQ(current(), "none");
  place.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("request/with_spans/block/handle: before", "request/with_spans/block/handle: after",
                                  "close handle", "close block", "request/with_spans: outside"));
  place.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close with_spans", "close request"));
}

TEST_F(TracedPromise, TakesThemToOtherThreads) {
  std::coroutine_handle<> place;
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_spans(place));
  auto const elsewhere = [&](auto f) {
    std::thread([&] {
      tracing::ScopedDefault const scope(registry_);
      TRACE_SPAN(info, "thread");
      f();
      EXPECT_EQ(current(), "thread");
    }).join();
  };
  elsewhere([&] { task.start(); });
  elsewhere([&] { place.resume(); });
  place.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_EQ(task.result(), 1);
  EXPECT_THAT(take(), ElementsAre("request/with_spans/block/handle: before", "close thread",
                                  "request/with_spans/block/handle: after", "close handle", "close block",
                                  "request/with_spans: outside", "close thread", "close with_spans", "close request"));
}

TEST_F(TracedPromise, IsEnteredWhereTheThreadIsInTheSameSpan) {
  std::coroutine_handle<> place;
  {
    TRACE_SPAN(info, "outer");
    auto task = pausing(place);
    {
      TRACE_SPAN(info, "inner");
      task.start();  // it runs in `outer`, in which the thread is already
      EXPECT_EQ(current(), "inner");
      place.resume();
      EXPECT_EQ(current(), "inner");
    }
    EXPECT_EQ(current(), "outer");
  }
  EXPECT_EQ(current(), "none");
}

Task<int> child(std::coroutine_handle<>& place) {
  TRACE_FN(info);
  TRACE_INFO("begins");
  co_await Pause{&place};
  TRACE_INFO("goes on");
  co_return 2;
}
Task<int> parent(std::coroutine_handle<>& place) {
  TRACE_FN(info);
  TRACE_INFO("begins");
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    TRACE_SPAN(info, "loop");
    sum += co_await child(place);
    TRACE_INFO("sum {}", sum);
  }
  co_return sum;
}

TEST_F(TracedPromise, StandsBelowWhoAwaitsIt) {
  std::coroutine_handle<> place;
  auto task = parent(place);
  task.start();
  EXPECT_EQ(current(), "none");
  std::thread([&] { tracing::with_default(registry_, [&] { place.resume(); }); }).join();
  place.resume();
  EXPECT_EQ(task.result(), 4);
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(),
              ElementsAre("parent: begins", "parent/loop/child: begins", "parent/loop/child: goes on", "close child",
                          "parent/loop: sum 2", "close loop", "parent/loop/child: begins", "parent/loop/child: goes on",
                          "close child", "parent/loop: sum 4", "close loop", "close parent"));
}

// ---- awaiters ----

template <class Result>
struct Suspending {
  Result result;
  std::coroutine_handle<>* place;
  bool await_ready() { return false; }
  Result await_suspend(std::coroutine_handle<> h) {
    TRACE_INFO("in await_suspend");
    *place = h;
    return result;
  }
  char const* await_resume() {
    TRACE_INFO("in await_resume");
    return "resumed";
  }
};
struct MemberOperator {
  Pause pause;
  Pause operator co_await() const& { return pause; }
  Pause& operator co_await() && { return pause; }
};
struct FreeOperator {
  Pause pause;
};
Pause operator co_await(FreeOperator x) { return x.pause; }
struct Unmovable {
  explicit Unmovable(std::coroutine_handle<>* to) : place(to) {}
  Unmovable(Unmovable const&) = delete;
  Unmovable& operator=(Unmovable const&) = delete;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> h) { *place = h; }
  std::unique_ptr<int> await_resume() { return std::make_unique<int>(3); }
  std::coroutine_handle<>* place;
};

Task<int> awaits_everything(std::coroutine_handle<>& place) {
  TRACE_SPAN(info, "s");
  co_await std::suspend_never();
  {
    auto const got = co_await Suspending<bool>{true, &place};
    TRACE_INFO("{}", got);
  }
  {
    auto const got = co_await Suspending<bool>{false, &place};
    TRACE_INFO("{}", got);
  }
  std::coroutine_handle<> const nobody = std::noop_coroutine();
  {
    auto const got = co_await Suspending<std::coroutine_handle<>>{nobody, &place};
    TRACE_INFO("{}", got);
  }
  {
    auto const got = co_await MemberOperator{{&place}};
    TRACE_INFO("member {}", got);
  }
  MemberOperator const named{{&place}};
  {
    auto const got = co_await named;
    TRACE_INFO("const member {}", got);
  }
  {
    auto const got = co_await FreeOperator{{&place}};
    TRACE_INFO("free {}", got);
  }
  Pause pause{&place};
  {
    auto const got = co_await pause;
    TRACE_INFO("lvalue {}", got);
  }
  {
    auto const got = co_await Unmovable(&place);
    TRACE_INFO("unmovable {}", tracing::kv("got", *got));
  }
  co_return 0;
}

TEST_F(TracedPromise, TakesEveryKindOfAwaiter) {
  std::coroutine_handle<> place;
  auto task = awaits_everything(place);
  task.start();
  while (!task.done()) {
    EXPECT_EQ(current(), "none");
    std::exchange(place, {}).resume();
  }
  EXPECT_THAT(take(),
              ElementsAre(": in await_suspend", "s: in await_resume", "s: resumed", ": in await_suspend",
                          "s: in await_resume", "s: resumed", ": in await_suspend", "s: in await_resume", "s: resumed",
                          "s: member 7", "s: const member 7", "s: free 7", "s: lvalue 7", "s: unmovable 3", "close s"));
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

TEST_F(TracedPromise, IsBackInItsSpansWhereAnAwaiterThrows) {
  auto task = catches();
  task.start();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close tried", "catches: caught ready", "close tried", "catches: caught suspend",
                                  "close tried", "catches: caught resume", "close catches"));
}

Task<int> throws(std::coroutine_handle<>& place) {
  TRACE_FN(info);
  co_await Pause{&place};
  throw std::runtime_error("lost");
}
Task<int> awaits_thrower(std::coroutine_handle<>& place) {
  TRACE_FN(info);
  try {
    co_await throws(place);
  } catch (std::exception const& e) {
    TRACE_INFO("caught {}", e.what());
  }
  co_return 0;
}

TEST_F(TracedPromise, IsLeftByExceptions) {
  std::coroutine_handle<> place;
  auto task = awaits_thrower(place);
  task.start();
  place.resume();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close throws", "awaits_thrower: caught lost", "close awaits_thrower"));
}

// ---- many ----

TEST_F(TracedPromise, DoesNothingWhereNobodyListens) {
  tracing::ScopedDefault const nobody(nullptr);
  std::coroutine_handle<> place;
  auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_spans(place));
  task.start();
  place.resume();
  place.resume();
  EXPECT_EQ(task.result(), 1);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(TracedPromise, MayBeginBeforeAnybodyListens) {
  std::coroutine_handle<> place;
  auto task = tracing::with_default(nullptr, [&] {
    auto early = with_spans(place);
    early.start();
    return early;
  });
  TRACE_SPAN(info, "late");
  place.resume();
  place.resume();
  EXPECT_EQ(current(), "late");
  EXPECT_THAT(take(), ElementsAre("late: after", "late: outside"));
}

Task<int> wanders(std::vector<std::coroutine_handle<>>& places, int number) {
  TRACE_SPAN(info, "wanderer", number);
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

TEST_F(TracedPromise, ManyWanderBetweenThreads) {
  constexpr int kTasks = 8;
  std::vector<std::coroutine_handle<>> places(kTasks);
  std::vector<Task<int>> tasks;
  for (int i = 0; i < kTasks; ++i) tasks.push_back(wanders(places, i));
  for (auto& task : tasks) task.start();
  // Each thread resumes every task in its turn: one half of the tasks in even rounds, the other in odd ones.
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

}  // namespace
}  // namespace coroutine_test
