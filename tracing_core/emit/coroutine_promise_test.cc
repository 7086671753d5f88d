// Kinds of promises that can be traced, and ways in which their coroutines end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "tracing_core/emit/coroutine_test_support.h"

namespace coroutine_test { namespace {

using testing::ElementsAre;

// ---- destroyed while suspended ----

struct EmitsGoodbye {
  ~EmitsGoodbye() { TRACE_INFO("goodbye"); }
};
Task<int> with_goodbye(std::coroutine_handle<>& suspended) {
  TRACE_FN(info);
  EmitsGoodbye const goodbye;
  TRACE_SPAN(info, "inner");
  co_await Pause{&suspended};
  co_return 0;
}

TEST_F(TracedPromise, MayBeDestroyedWhileSuspended) {
  std::coroutine_handle<> suspended;
  {
    auto task = with_goodbye(suspended);
    task.start();
    TRACE_SPAN(info, "destroyer");
    task.destroy();
    EXPECT_EQ(current(), "destroyer");
  }
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close inner", "with_goodbye: goodbye", "close with_goodbye", "close destroyer"));
  {
    auto task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_goodbye(suspended));
    task.start();
    std::thread([&] { tracing::with_default(registry_, [&] { task.destroy(); }); }).join();
  }
  EXPECT_THAT(take(),
              ElementsAre("close inner", "request/with_goodbye: goodbye", "close with_goodbye", "close request"));
}

TEST_F(TracedPromise, MayBeDestroyedBeforeItStarts) {
  std::coroutine_handle<> suspended;
  { auto const task = tracing::instrument(TRACE_MAKE_SPAN(info, "request"), with_goodbye(suspended)); }
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close request"));
}

struct DestroysItself {
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { h.destroy(); }
  void await_resume() noexcept {}
};

// Starts at once and destroys itself at its end.
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
Detached detached(std::coroutine_handle<>& suspended) {
  TRACE_FN(info);
  TRACE_INFO("started");
  co_await Pause{&suspended};
  TRACE_INFO("resumed");
}
Detached destroys_itself() {
  TRACE_FN(info);
  EmitsGoodbye const goodbye;
  co_await DestroysItself();
}
Detached throws_at_once() {
  TRACE_FN(info);
  throw std::runtime_error("out");
  co_return;
}

TEST_F(TracedPromise, MayStartAtOnceAndDestroyItselfAtItsEnd) {
  std::coroutine_handle<> suspended;
  {
    TRACE_SPAN(info, "caller");
    detached(suspended);
    EXPECT_EQ(current(), "caller");
  }
  suspended.resume();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(),
              ElementsAre("caller/detached: started", "caller/detached: resumed", "close detached", "close caller"));
}

TEST_F(TracedPromise, MayDestroyItselfWhileItSuspends) {
  destroys_itself();
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("destroys_itself: goodbye", "close destroys_itself"));
}

TEST_F(TracedPromise, MayEndByAnException) {
  {
    TRACE_SPAN(info, "caller");
    EXPECT_THROW(throws_at_once(), std::runtime_error);
    EXPECT_EQ(current(), "caller");
  }
  EXPECT_EQ(current(), "none");
  EXPECT_THAT(take(), ElementsAre("close throws_at_once", "close caller"));
}

// ---- kinds of promises ----

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
  std::coroutine_handle<promise_type> handle() const {
    return std::coroutine_handle<promise_type>::from_address(handle_.address());
  }

 private:
  std::coroutine_handle<Promise> handle_;
};

Generator counting(int n) {
  TRACE_FN(info, n);
  for (int i = 0; i < n; ++i) {
    TRACE_SPAN(info, "step");
    TRACE_INFO("yields {}", i);
    co_yield i;
  }
}

TEST_F(TracedPromise, MayBelongToAGenerator) {
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

// Its await_transform() takes only numbers, and its promise's constructor takes the coroutine's arguments.
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

TEST_F(TracedPromise, KeepsAllFunctionsOfItsBase) {
  sleeper("someone", 3);
  EXPECT_THAT(take(), ElementsAre("sleeper: someone: someone slept 3", "close sleeper"));
  EXPECT_LE(Sleeper::Promise::allocations, 1);  // Clang may elide it
  EXPECT_EQ(&Sleeper::promise_type::operator new, &Sleeper::Promise::operator new);
}

}}  // namespace coroutine_test
