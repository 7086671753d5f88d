// Macros for perf spans, which measure a scope, and for perf events.
//
// Included by tracing.h. Perf spans are off until a registry has a perf_layer().
#pragma once

#include "tracing_core/emit/macros.h"

namespace tracing { inline namespace v1 { namespace internal {

// The variable that TRACE_PERF declares: a span that measures its block. While the span is off it costs as much as the
// scope of an ordinary span.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
class PerfScope {
 public:
  constexpr PerfScope() noexcept {}
  PerfScope(PerfScope const&) = delete;
  PerfScope& operator=(PerfScope const&) = delete;
  constexpr ~PerfScope() {
    if (id_) [[unlikely]]
      close();
  }
  /// Returns the nanoseconds since the span began; zero while it is off.
  std::uint64_t elapsed_ns() const noexcept { return id_ ? measure() : 0; }

  // For the macros.
  void start(OpenSpan span, std::uint64_t threshold_ns) noexcept;

 private:
  void close() noexcept;
  std::uint64_t measure() const noexcept;

  SpanId id_{};
  // Set together with the id:
  Subscriber* subscriber_;
  std::uint64_t begin_;  // ticks of the span clock
  std::uint64_t threshold_ns_;
  std::uint64_t siblings_before_ns_;  // the sum of earlier perf scopes inside the enclosing scope
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

// Takes the place of PerfScope if the level is compiled out.
struct [[maybe_unused]] NoPerfScope {
  constexpr std::uint64_t elapsed_ns() const noexcept { return 0; }
};
template <bool kCompiledIn>
using PerfScopeOf = std::conditional_t<kCompiledIn, PerfScope, NoPerfScope>;

template <class... A>
constexpr void open_perf_scope(NoPerfScope&, Callsite const&, LayerMask, Level, char const*, A const&...) noexcept {}
template <class... A>
[[gnu::always_inline]] inline void open_perf_scope(PerfScope& scope, Callsite const& callsite, LayerMask mask, Level,
                                                   char const*, A const&... args) noexcept {
  open_bare<PerfScope, decltype(bare(args))...>(scope, callsite, mask, bare(args)...);
}

}}}  // namespace tracing::v1::internal

// Like TRACING_INTERNAL_SCOPE_ for ordinary spans. `variable` names the PerfScope.
#define TRACING_INTERNAL_PERF_(skipped, name, text, ...) \
  TRACING_INTERNAL_PERF_N_(__COUNTER__, skipped, name, text, __VA_ARGS__)
#define TRACING_INTERNAL_PERF_N_(n, skipped, name, text, ...) \
  TRACING_INTERNAL_PERF_UNNAMED_(n, skipped, name, text, __VA_ARGS__)
#define TRACING_INTERNAL_PERF_UNNAMED_(n, skipped, name, text, ...) \
  TRACING_INTERNAL_PERF_NN_(n, tracing_span_##n, skipped, name, text, __VA_ARGS__)
#define TRACING_INTERNAL_PERF_AS_(variable, skipped, name, text, ...) \
  TRACING_INTERNAL_PERF_AS_N_(__COUNTER__, variable, skipped, name, text, __VA_ARGS__)
#define TRACING_INTERNAL_PERF_AS_N_(n, variable, skipped, name, text, ...) \
  TRACING_INTERNAL_PERF_NN_(n, variable, skipped, name, text, __VA_ARGS__)
#if defined(TRACING_DISABLED)
#define TRACING_INTERNAL_PERF_NN_(n, variable, skipped, name, text, ...)                              \
  TRACING_INTERNAL_RESULT_(put_braces_around_this_span_##n,                                           \
                           ::tracing::internal::a_span_takes_a_level_a_name_and_values(__VA_ARGS__)); \
  static_assert(put_braces_around_this_span_##n::kCount <= ::tracing::internal::kMaxArguments);       \
  [[maybe_unused]] constexpr ::tracing::internal::NoPerfScope variable;                               \
  if (false) ::tracing::internal::mark_used(__VA_ARGS__)
#else
#define TRACING_INTERNAL_PERF_NN_(n, variable, skipped, name, text, ...)                                              \
  TRACING_INTERNAL_RESULT_(put_braces_around_this_span_##n,                                                           \
                           ::tracing::internal::a_span_takes_a_level_a_name_and_values(__VA_ARGS__));                 \
  ::tracing::Callsite* tracing_callsite_##n =                                                                         \
      !TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) || TRACING_INTERNAL_AT_COMPILE_TIME_     \
          ? nullptr                                                                                                   \
          : TRACING_INTERNAL_CALLSITE_(n, ::tracing::internal::kPerfSpanKind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), \
                                       TRACING_INTERNAL_TYPE_OF_(put_braces_around_this_span_##n), text, skipped,     \
                                       name, nullptr, 0);                                                             \
  ::tracing::internal::PerfScopeOf<TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, ))> variable;   \
  if (::tracing::internal::may_be_enabled(tracing_callsite_##n)) [[unlikely]]                                         \
    if (auto const tracing_mask_##n = tracing_callsite_##n->enabled_slow())                                           \
  ::tracing::internal::open_perf_scope(variable, *tracing_callsite_##n, tracing_mask_##n, __VA_ARGS__)
#endif

#define TRACING_INTERNAL_PERF_EVENT_(level, text, ...) \
  TRACING_INTERNAL_PERF_EVENT_N_(__COUNTER__, level, text, __VA_ARGS__)
#define TRACING_INTERNAL_PERF_EVENT_N_(n, level, text, ...) \
  TRACING_INTERNAL_EVENT_OF_KIND_(n, ::tracing::internal::kPerfEventKind, level, text, __VA_ARGS__)

#define TRACING_INTERNAL_PERF_ENABLED_OF_KIND_(kind, text, ...) \
  TRACING_INTERNAL_PERF_ENABLED_N_(__COUNTER__, kind, text, __VA_ARGS__)
#define TRACING_INTERNAL_PERF_ENABLED_N_(n, kind, text, ...) \
  TRACING_INTERNAL_PERF_ENABLED_NN_(n, kind, text, __VA_ARGS__)
#define TRACING_INTERNAL_PERF_ENABLED_NN_(n, kind, text, ...)                                                         \
  (TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) &&                                           \
   ::tracing::internal::mask_by(TRACING_INTERNAL_CALLSITE_LAMBDA_(                                                    \
       n, ::tracing::internal::kind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),                                          \
       decltype(::tracing::internal::this_takes_a_level_and_values(__VA_ARGS__)), text, 1, "enabled", nullptr, 0)) != \
       0)

/// Opens a span of level debug from here to the end of the scope, which reports its duration: TRACING_PERF("cpu_ldg",
/// bytes). Takes the arguments of TRACING_SPAN without the level, and `tracing::threshold(500us)`: shorter spans are
/// not reported.
#define TRACING_PERF(...)                                                                                           \
  TRACING_INTERNAL_PERF_(1, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), #__VA_ARGS__, ::tracing::internal::level_debug, \
                         __VA_ARGS__)
/// TRACING_PERF with a level, a bare word: TRACING_PERF_AT(info, "cpu_execute_program", blocks).
#define TRACING_PERF_AT(...)                                                                                        \
  TRACING_INTERNAL_PERF_(2, TRACING_INTERNAL_SECOND_(::tracing::internal::a_level_comes_first_not_##__VA_ARGS__, ), \
                         #__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// TRACING_PERF with a variable for the duration so far: TRACING_PERF_AS(load, "load"); load.elapsed_ns().
#define TRACING_PERF_AS(variable, ...)                                                         \
  TRACING_INTERNAL_PERF_AS_(variable, 1, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), #__VA_ARGS__, \
                            ::tracing::internal::level_debug, __VA_ARGS__)
/// Makes a perf span and returns a Span handle to it, to measure something other than a block of one thread.
/// finish_perf() reports the duration. Takes the arguments of TRACING_PERF except the threshold: auto span =
/// TRACING_MAKE_PERF("gpu_execute_program", grid_size).
#define TRACING_MAKE_PERF(...)                                                                                      \
  TRACING_INTERNAL_HANDLE_N_(__COUNTER__, kPerfHandleKind, 1, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), #__VA_ARGS__, \
                             ::tracing::internal::level_debug, __VA_ARGS__)
/// True if a perf span of this level would be measured here now: TRACING_PERF_ENABLED(trace). For code that prepares or
/// multiplies perf spans. May take a tracing::target().
#define TRACING_PERF_ENABLED(...)                                     \
  TRACING_INTERNAL_PERF_ENABLED_OF_KIND_(kPerfSpanKind, #__VA_ARGS__, \
                                         ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// Emits an event of level debug that is on if perf spans are on: TRACING_PERF_EVENT("cache", hits, misses).
#define TRACING_PERF_EVENT(...) \
  TRACING_INTERNAL_PERF_EVENT_(::tracing::internal::level_debug, #__VA_ARGS__, __VA_ARGS__)

#include "tracing_core/support/short_macros.inc"
