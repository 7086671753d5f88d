#include "tracing_core/emit/coroutine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tracing_core/collect/registry.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/tracing.h"

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Lines = std::vector<std::string>;

// Writes down each event with the spans around it: "a/b: message", and each span that closes: "close b".
class Journal final : public tracing::Layer {
 public:
  explicit Journal(Lines& lines) : lines_(lines) {}
  tracing::Hooks hooks() const noexcept override { return tracing::Hooks::event | tracing::Hooks::close; }
  void on_event(tracing::Event const& event, tracing::Context const& context) noexcept override {
    tracing::InlineTextBuffer<256> message;
    append_message(message, event.fields.value(0));
    add(path_of(context.event_span(event)) + ": " + std::string(message.view()));
  }
  void on_close(tracing::SpanRef span, tracing::Context const&) noexcept override {
    add("close " + std::string(span.metadata().name()));
  }

 private:
  static std::string path_of(tracing::SpanRef span) {
    std::string path;
    for (; span; span = span.parent()) path = std::string(span.metadata().name()) + (path.empty() ? "" : "/" + path);
    return path;
  }
  void add(std::string line) {
    std::lock_guard const lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::mutex mutex_;
  Lines& lines_;
};

class TracedPromise : public testing::Test {
 protected:
  Lines take() { return std::exchange(lines_, {}); }

  Lines lines_;
  std::shared_ptr<tracing::Registry> registry_ =
      tracing::RegistryBuilder().with(std::make_unique<Journal>(lines_)).build();
  tracing::ScopedDefault scope_{registry_};
};

// A task that starts when it is awaited and resumes who awaits it by symmetric transfer.
template <class T>
class Task {
 public:
  struct Promise;
  using promise_type = tracing::traced_promise<Promise>;
  struct Promise {
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().continuation;
      }
      void await_resume() noexcept {}
    };
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(static_cast<promise_type&>(*this)));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_value(T x) { value = std::move(x); }
    void unhandled_exception() { error = std::current_exception(); }

    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::optional<T> value;
    std::exception_ptr error;
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() { destroy(); }

  std::coroutine_handle<promise_type> handle() const { return handle_; }
  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  T result() { return Awaiter{handle_}.await_resume(); }
  void destroy() {
    if (handle_) std::exchange(handle_, {}).destroy();
  }

  struct Awaiter {
    std::coroutine_handle<promise_type> handle;
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
      handle.promise().continuation = awaiting;
      return handle;
    }
    T await_resume() {
      if (handle.promise().error) std::rethrow_exception(handle.promise().error);
      return std::move(*handle.promise().value);
    }
  };
  Awaiter operator co_await() && noexcept { return Awaiter{handle_}; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// Suspends; whoever has the place resumes.
struct Pause {
  std::coroutine_handle<>* place;
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { *place = h; }
  int await_resume() noexcept { return 7; }
};

std::string current() {
  tracing::Span const span = tracing::Span::current();
  return span ? std::string(span.metadata()->name()) : "none";
}

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

// ---- destroyed while suspended ----

struct SaysGoodbye {
  ~SaysGoodbye() { TRACE_INFO("goodbye"); }
};
Task<int> with_goodbye(std::coroutine_handle<>& place) {
  TRACE_FN(info);
  SaysGoodbye const goodbye;
  TRACE_SPAN(info, "inner");
  co_await Pause{&place};
  co_return 0;
}

TEST_F(TracedPromise, MayBeDestroyedWhileSuspended) {
  std::coroutine_handle<> place;
  {
    auto task = with_goodbye(place);
    task.start();
    TRACE_SPAN(info, "destroyer");
    task.destroy();
    EXPECT_EQ(current(), "destroyer");
  }
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close inner", "with_goodbye: goodbye", "close with_goodbye", "close destroyer"));
  {
    auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_goodbye(place));
    task.start();
    std::thread([&] { tracing::with_default(registry_, [&] { task.destroy(); }); }).join();
  }
  EXPECT_THAT(take(),
              ElementsAre("close inner", "request/with_goodbye: goodbye", "close with_goodbye", "close request"));
}

TEST_F(TracedPromise, MayBeDestroyedBeforeItBegins) {
  std::coroutine_handle<> place;
  { auto const task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_goodbye(place)); }
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close request"));
}

struct DestroysItself {
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { h.destroy(); }
  void await_resume() noexcept {}
};

// Begins at once and destroys itself at its end.
struct Detached {
  struct Promise {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  using promise_type = tracing::traced_promise<Promise>;
};
Detached detached(std::coroutine_handle<>& place) {
  TRACE_FN(info);
  TRACE_INFO("begins");
  co_await Pause{&place};
  TRACE_INFO("goes on");
}
Detached destroys_itself() {
  TRACE_FN(info);
  SaysGoodbye const goodbye;
  co_await DestroysItself();
}
Detached throws_at_once() {
  TRACE_FN(info);
  throw std::runtime_error("out");
  co_return;
}

TEST_F(TracedPromise, MayBeginAtOnceAndEndByItself) {
  std::coroutine_handle<> place;
  {
    TRACE_SPAN(info, "caller");
    detached(place);
    EXPECT_EQ(current(), "caller");
  }
  place.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(),
              ElementsAre("caller/detached: begins", "caller/detached: goes on", "close detached", "close caller"));
}

TEST_F(TracedPromise, MayDestroyItselfWhileItSuspends) {
  destroys_itself();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("destroys_itself: goodbye", "close destroys_itself"));
}

TEST_F(TracedPromise, MayLetExceptionsOut) {
  {
    TRACE_SPAN(info, "caller");
    EXPECT_THROW(throws_at_once(), std::runtime_error);
    EXPECT_EQ(current(), "caller");
  }
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close throws_at_once", "close caller"));
}

// ---- what a promise may be ----

class Generator {
 public:
  struct Promise;
  using promise_type = tracing::traced_promise<Promise>;
  struct Promise {
    Generator get_return_object() { return Generator(std::coroutine_handle<Promise>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int x) noexcept { return value = x, std::suspend_always(); }
    void await_transform() = delete;  // a generator awaits nothing
    void return_void() {}
    void unhandled_exception() { std::abort(); }
    int value = 0;
  };
  explicit Generator(std::coroutine_handle<Promise> handle) : handle_(handle) {}
  Generator(Generator&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Generator& operator=(Generator&&) = delete;
  ~Generator() {
    if (handle_) handle_.destroy();
  }
  bool next() { return handle_.resume(), !handle_.done(); }
  int value() const { return handle_.promise().value; }
  std::coroutine_handle<Promise> handle_;
};
std::coroutine_handle<Generator::promise_type> tracing_coroutine(Generator const& generator) {
  return std::coroutine_handle<Generator::promise_type>::from_address(generator.handle_.address());
}

Generator counting(int n) {
  TRACE_FN(info, n);
  for (int i = 0; i < n; ++i) {
    TRACE_SPAN(info, "step");
    TRACE_INFO("yields {}", i);
    co_yield i;
  }
}

TEST_F(TracedPromise, MayBeAGenerators) {
  {
    auto numbers = tracing::instrument(TRACE_MAKE_SPAN(info, "numbers"), counting(5));
    TRACE_SPAN(info, "consumer");
    while (numbers.next() && numbers.value() < 1) TRACE_INFO("got {}", numbers.value());
    EXPECT_EQ(current(), "consumer");
  }
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("numbers/counting/step: yields 0", "consumer: got 0", "close step",
                                  "numbers/counting/step: yields 1", "close consumer", "close step", "close counting",
                                  "close numbers"));
}

template <class Promise, class A>
concept Awaits = requires(Promise& promise, A a) {
  promise.await_transform(a);
};
static_assert(!Awaits<Generator::promise_type, std::suspend_always>);

// Awaits numbers, in a way of its own, and nothing else; is made from the coroutine's arguments.
struct Sleeper {
  struct Slept {
    std::string text;
    Slept(Slept const&) = delete;
    Slept& operator=(Slept const&) = delete;
    explicit Slept(std::string what) : text(std::move(what)) {}
    bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) noexcept { return false; }
    std::string const& await_resume() noexcept { return text; }
  };
  struct Promise {
    Promise(std::string name, int) : name_(std::move(name)) {}
    Sleeper get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    Slept await_transform(int milliseconds) { return Slept(name_ + " slept " + std::to_string(milliseconds)); }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
    static void* operator new(std::size_t size) { return ++allocations, std::malloc(size); }
    static void operator delete(void* p) { std::free(p); }
    static inline int allocations = 0;
    std::string name_;
  };
  using promise_type = tracing::traced_promise<Promise>;
};
static_assert(Awaits<Sleeper::promise_type, int>);
static_assert(!Awaits<Sleeper::promise_type, std::suspend_always>);

Sleeper sleeper(std::string name, int n) {
  TRACE_SPAN(info, "sleeper");
  std::string const& slept = co_await n;
  TRACE_INFO("{}: {}", name, slept);
}

TEST_F(TracedPromise, KeepsWhatItsBaseMayDo) {
  sleeper("someone", 3);
  EXPECT_THAT(take(), ElementsAre("sleeper: someone: someone slept 3", "close sleeper"));
  EXPECT_LE(Sleeper::Promise::allocations, 1);  // Clang sees that it may do without
  EXPECT_EQ(&Sleeper::promise_type::operator new, &Sleeper::Promise::operator new);
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
