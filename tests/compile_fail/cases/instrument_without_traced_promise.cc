// expect: needs a task whose promise_type mixes in tracing::traced_promise
#include "tracing_core/emit/coroutine.h"
#include "tracing_core/tracing.h"
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task task() { co_return; }
void f() { tracing::instrument(TRACE_MAKE_SPAN(info, "s"), task()); }
