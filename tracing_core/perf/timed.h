// timed(): calls a function and returns its result and its duration.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// The result of timed(), for `auto [result, duration] = ...`.
template <class T>
struct Timed {
  T result;
  std::chrono::nanoseconds duration;
};

/// Calls `f()` and returns its result together with its duration, or the duration alone if `f` returns void. Always
/// measures; a perf span inside of `f` reports the duration to the layers:
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

}}  // namespace tracing::v1
