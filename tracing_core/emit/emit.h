// Declares what the macros call: the values of a statement are put on the stack and handed to the dispatcher.
#pragma once

#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/emit/arguments.h"

namespace tracing::inline v1 {

/// Emits an event of a callsite made at run time, if anybody wants it. `values` stand in the order of its fields.
void emit_event(Callsite& callsite, Value const* values, Parent parent = {}, Origin const& origin = {}) noexcept;

namespace internal {

// Who wants what the callsite emits; nobody where it is null: compiled out, or the compiler is computing a constant. A
// function, because GCC warns of the call where the macro itself says so and the pointer is a literal null.
[[gnu::always_inline]] constexpr Verdict verdict_of(Callsite* callsite) noexcept {
  return callsite == nullptr ? 0 : callsite->enabled();
}

// The same of the callsite that the function `find` gives, with all but the first look behind a call, as events have it: less
// code, and a tenth less of the compiler's time.
template <class F>
[[gnu::always_inline]] constexpr Verdict verdict_by(F find) noexcept {
  Callsite* const callsite = find();
  if (callsite == nullptr || !callsite->may_be_enabled()) [[likely]] return 0;
  return callsite->look_closer();
}

// Takes the arguments of a statement that is compiled out, which is never called: their variables count as used.
template <class... A>
constexpr void consider(A const&...) noexcept {}

template <std::size_t kCount>
struct StatementValues {
  Value values[kCount == 0 ? 1 : kCount];
  Parent parent;
};

template <class... B>
[[gnu::always_inline]] constexpr auto collect(B const&... args) noexcept {
  constexpr std::size_t kCount = (std::size_t{0} + ... + (kIsControl<B> ? 0 : 1));
  if constexpr (kCount == sizeof...(B)) {
    return StatementValues<kCount>{{value_of_bare(args)...}, {}};
  } else {
    StatementValues<kCount> result{};
    std::size_t count = 0;
    auto add = [&]<class T>(T const& x) {
      if constexpr (std::is_same_v<T, ParentArgument>) {
        result.parent = x.parent;
      } else if constexpr (!kIsControl<T>) {
        result.values[count++] = value_of_bare(x);
      }
    };
    (add(args), ...);
    return result;
  }
}

// What follows is compiled once for each list of types and not for each statement: it keeps statements small, in the
// program as for the compiler, and the stack frame for the values out of functions whose tracing is off.
template <class... B>
[[gnu::noinline, gnu::visibility("hidden")]] void emit_bare(Callsite const& callsite, Verdict verdict,
                                                            B... args) noexcept {
  auto const statement = collect(args...);
  if constexpr ((std::is_same_v<B, ParentArgument> || ...)) {
    dispatch_event_below(callsite, verdict, statement.values, statement.parent);
  } else {
    dispatch_event(nullptr, callsite.metadata(), verdict, statement.values);
  }
}

// The first argument is the message or the level, which the callsite knows already.
template <class... A>
[[gnu::always_inline]] inline void emit_event(Callsite const& callsite, Verdict verdict, char const*,
                                              A const&... args) noexcept {
  emit_bare<decltype(bare(args))...>(callsite, verdict, bare(args)...);
}
template <class... A>
[[gnu::always_inline]] inline void emit_values(Callsite const& callsite, Verdict verdict, Level,
                                               A const&... args) noexcept {
  emit_bare<decltype(bare(args))...>(callsite, verdict, bare(args)...);
}

}  // namespace internal
}  // namespace tracing::inline v1
