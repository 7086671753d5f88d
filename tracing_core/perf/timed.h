// Declares timed(), which calls a function and tells what it returned and how long it took.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

namespace tracing::inline v1 {

/// What timed() returns, for `auto [result, duration] = ...`.
template <class T>
struct Timed {
  T result;
  std::chrono::nanoseconds duration;
};

/// Calls `f()`; returns what it returns together with how long it took, or how long it took alone where it returns nothing.
/// Measures whether anybody listens or not; a perf span inside of `f` tells those who do:
///
///     auto const [sum, duration] = tracing::timed([&] { TRACE_PERF("sum", n); return add_up(values, n); });
template <class F>
auto timed(F&& f) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point const begin = Clock::now();
  if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
    std::forward<F>(f)();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
  } else {
    Timed<std::invoke_result_t<F>> timed{std::forward<F>(f)(), {}};
    timed.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    return timed;
  }
}

}  // namespace tracing::inline v1
