// Declares what the macros call: the values of a statement are put on the stack and handed to the dispatcher.
#pragma once

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/emit/arguments.h"

namespace tracing::inline v1 {

/// Emits an event of a callsite made at run time, if anybody wants it. `values` stand in the order of its fields.
void emit_event(Callsite& callsite, Value const* values, Parent parent = {}, Origin const& origin = {}) noexcept;

namespace internal {

template <std::size_t kCount>
struct StatementValues {
  Value values[kCount == 0 ? 1 : kCount];
  Parent parent;
};

template <class... A>
[[gnu::always_inline]] constexpr auto collect(A const&... args) noexcept {
  constexpr std::size_t kCount = (std::size_t{0} + ... + (kIsControl<A> ? 0 : 1));
  if constexpr (kCount == sizeof...(A)) {
    return StatementValues<kCount>{{value_of_argument(args)...}, {}};
  } else {
    StatementValues<kCount> result{};
    std::size_t count = 0;
    auto add = [&]<class T>(T const& x) {
      if constexpr (std::is_same_v<T, ParentArgument>) {
        result.parent = x.parent;
      } else if constexpr (!kIsControl<T>) {
        result.values[count++] = value_of_argument(x);
      }
    };
    (add(args), ...);
    return result;
  }
}

// The first argument is the message, which the callsite knows already.
template <class M, class... A>
[[gnu::always_inline]] inline void emit_message(Callsite const& callsite, Verdict verdict, M const&, A const&... args) noexcept {
  auto const statement = collect(args...);
  dispatch_event(callsite, verdict, statement.values, statement.parent);
}

template <class... A>
[[gnu::always_inline]] inline void emit_values(Callsite const& callsite, Verdict verdict, A const&... args) noexcept {
  auto const statement = collect(args...);
  dispatch_event(callsite, verdict, statement.values, statement.parent);
}

}  // namespace internal
}  // namespace tracing::inline v1
