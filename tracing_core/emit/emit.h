// The functions that the macros call. They put a statement's values on the stack and pass them to the dispatcher.
#pragma once

#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/dispatch/printed_values.h"
#include "tracing_core/emit/arguments.h"

namespace tracing { inline namespace v1 {

/// Emits an event of a callsite made at run time, if the callsite is enabled. `values` are in the order of its fields.
void emit_event(Callsite& callsite, Value const* values, Parent parent = {}, Origin const& origin = {}) noexcept;

namespace internal {

// The first check of a span's callsite, which is null if compiled out or while the compiler evaluates a constant
// expression. It is a function because in the macro itself GCC would warn about a call through a literal null pointer.
// It says [[likely]], too, because [[unlikely]] in the macro alone would leave the second check between the
// instructions that run while tracing is off.
[[gnu::always_inline]] constexpr bool may_be_enabled(Callsite const* callsite) noexcept {
  if (callsite == nullptr || !callsite->may_be_enabled()) [[likely]]
    return false;
  return true;
}

// Returns the layers that collect the callsite's records. Everything except the first check is out of line, as for
// events; this makes less code and saves a tenth of the compile time.
template <class F>
[[gnu::always_inline]] constexpr LayerMask mask_by(F find) noexcept {
  Callsite* const callsite = find();
  if (callsite == nullptr || !callsite->may_be_enabled()) [[likely]]
    return 0;
  return callsite->enabled_slow();
}

// Never called. Takes the arguments of a statement that is compiled out, so that their variables count as used.
template <class... A>
constexpr void mark_used(A const&...) noexcept {}

template <std::size_t kCount>
struct StatementValues {
  Value values[kCount == 0 ? 1 : kCount];
  Parent parent{};
  std::uint64_t threshold_ns = Timing::kNoThreshold;
};

template <class... B>
[[gnu::always_inline]] constexpr auto collect(B const&... args) noexcept {
  constexpr std::size_t kCount = (std::size_t{0} + ... + (kIsControl<B> ? 0 : 1));
  if constexpr (kCount == sizeof...(B)) {
    return StatementValues<kCount>{{value_of_bare(args)...}};
  } else {
    StatementValues<kCount> result{};
    std::size_t count = 0;
    auto add = [&]<class T>(T const& x) {
      if constexpr (std::is_same_v<T, ParentArgument>) {
        result.parent = x.parent;
      } else if constexpr (std::is_same_v<T, ThresholdArgument>) {
        result.threshold_ns = x.ns;
      } else if constexpr (!kIsControl<T>) {
        result.values[count++] = value_of_bare(x);
      }
    };
    (add(args), ...);
    return result;
  }
}

// Prints the values of a statement whose printing may run code of the program. Does nothing if no argument has such a
// type.
struct NothingToPrint {
  constexpr NothingToPrint(Metadata const&, Value const*) noexcept {}
};
template <class B>
inline constexpr bool kPrintingRunsCode = !kIsControl<B> && printing_runs_code<B>();
template <>
inline constexpr bool kPrintingRunsCode<CharArray> = false;
template <class T>
inline constexpr bool kPrintingRunsCode<Held<T>> = printing_runs_code<T>();
template <class... B>
using Printed = std::conditional_t<(... || kPrintingRunsCode<B>), PrintedValues, NothingToPrint>;

// Compiled once for each list of types instead of once for each statement. This keeps statements small, for the
// compiler as well, and keeps the stack frame for the values out of functions whose tracing is off.
template <class... B>
[[gnu::noinline, gnu::visibility("hidden")]] void emit_bare(Callsite const& callsite, LayerMask mask,
                                                            B... args) noexcept {
  auto statement = collect(args...);
  [[maybe_unused]] Printed<std::remove_cvref_t<B>...> const printed(callsite.metadata(), statement.values);
  if constexpr ((std::is_same_v<B, ParentArgument> || ...)) {
    dispatch_event_below(callsite, mask, statement.values, statement.parent);
  } else {
    dispatch_event(nullptr, callsite.metadata(), mask, statement.values);
  }
}

// The first argument is the message or the level. The callsite already has it, so it is ignored.
template <class... A>
[[gnu::always_inline]] inline void emit_event(Callsite const& callsite, LayerMask mask, char const*,
                                              A const&... args) noexcept {
  emit_bare<decltype(bare(args))...>(callsite, mask, bare(args)...);
}
template <class... A>
[[gnu::always_inline]] inline void emit_values(Callsite const& callsite, LayerMask mask, Level,
                                               A const&... args) noexcept {
  emit_bare<decltype(bare(args))...>(callsite, mask, bare(args)...);
}

}  // namespace internal
}}  // namespace tracing::v1
