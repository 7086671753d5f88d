// Declares the macros that instrumented code is written with. Each captures its place, its own text and its arguments;
// the classes and functions of this folder do the work.
//
// Every public macro stringises its arguments itself and pastes the level itself, because forwarding expands them
// first: a field `errno` keeps its name, and a program that defines `debug` still has the level. The names of what an
// expansion declares carry a number, so that expansions nest and stand on one line without shadowing.
#pragma once

#include <type_traits>

#include "tracing_core/emit/emit.h"
#include "tracing_core/emit/span.h"
#include "tracing_core/emit/static_metadata.h"

// TRACE_TARGET, when defined before the include, names the target of every callsite of the file.
#ifdef TRACE_TARGET
#define TRACING_INTERNAL_TARGET_ TRACE_TARGET
#else
#define TRACING_INTERNAL_TARGET_ ""
#endif

// TRACING_MAX_LEVEL and TRACING_DISABLED come from the build of tracing::core, the same for every translation unit.
#if defined(TRACING_DISABLED)
#define TRACING_INTERNAL_MAX_LEVEL_ ::tracing::internal::max_level_off
#elif defined(TRACING_MAX_LEVEL)
#define TRACING_INTERNAL_PASTE_MAX_(level) ::tracing::internal::max_level_##level
#define TRACING_INTERNAL_EXPAND_MAX_(level) TRACING_INTERNAL_PASTE_MAX_(level)
#define TRACING_INTERNAL_MAX_LEVEL_ TRACING_INTERNAL_EXPAND_MAX_(TRACING_MAX_LEVEL)
#else
#define TRACING_INTERNAL_MAX_LEVEL_ ::tracing::internal::max_level_trace
#endif

#if defined(__CUDACC__) && defined(__NVCC__)
// nvcc warns of is_constant_evaluated() in each function that is not constexpr, and finds no constants in templates; the
// host compiler, which gets the same text, does. For nvcc, too, a span's callsite is no const pointer: it would be null.
#define TRACING_INTERNAL_AT_COMPILE_TIME_ ::tracing::internal::at_compile_time()
#define TRACING_INTERNAL_CONSTINIT_
namespace tracing::inline v1::internal {
constexpr bool at_compile_time() noexcept { return std::is_constant_evaluated(); }
}  // namespace tracing::inline v1::internal
#else
#define TRACING_INTERNAL_AT_COMPILE_TIME_ __builtin_is_constant_evaluated()
#define TRACING_INTERNAL_CONSTINIT_ constinit
#endif

#define TRACING_INTERNAL_FIRST_(first, ...) first
#define TRACING_INTERNAL_SECOND_(first, second, ...) second

#define TRACING_INTERNAL_COMPILED_IN_(level) ((level) <= TRACING_INTERNAL_MAX_LEVEL_)
// Where all levels are compiled in, which is the rule, the compiler is not asked.
#if defined(TRACING_DISABLED) || defined(TRACING_MAX_LEVEL)
#define TRACING_INTERNAL_IF_COMPILED_IN_(level) if constexpr (TRACING_INTERNAL_COMPILED_IN_(level))
#define TRACING_INTERNAL_ELSE_CONSIDER_(...)    \
  else if (false) {                             \
    ::tracing::internal::consider(__VA_ARGS__); \
  }
#else
#define TRACING_INTERNAL_IF_COMPILED_IN_(level)
#define TRACING_INTERNAL_ELSE_CONSIDER_(...)
#endif

// One sentence for each mistake, with the statement's own text: the first line of the compiler's error. They are asked for
// by number, since each statement of a program asks for all of them, and a name takes the compiler twice as long.
#define TRACING_INTERNAL_REFUSE_EACH_(mistake, first, second, third, later, sentence, text) \
  static_assert(mistake != first, "argument 1 " sentence ": (" text ")");                   \
  static_assert(mistake != second, "argument 2 " sentence ": (" text ")");                  \
  static_assert(mistake != third, "argument 3 " sentence ": (" text ")");                   \
  static_assert(mistake != later, "an argument behind the third " sentence ": (" text ")")
#define TRACING_INTERNAL_CHECK_(mistake, text)                                                                         \
  static_assert(mistake != 10,                                                                                         \
                "cannot tell the arguments apart; put parentheses around the one with < or >: (" text ")");            \
  static_assert(mistake != 20, "too many arguments, or too many placeholders for them: (" text ")");                   \
  TRACING_INTERNAL_REFUSE_EACH_(mistake, 31, 32, 33, 34, "needs a name, tracing::kv(\"name\", expression)", text);     \
  static_assert(mistake != 40,                                                                                         \
                "the name in tracing::kv and tracing::target must be a plain string literal: (" text ")");             \
  TRACING_INTERNAL_REFUSE_EACH_(                                                                                       \
      mistake, 51, 52, 53, 54,                                                                                         \
      "has a type that cannot be recorded; give it fmt::formatter, operator<<, TRACE_FIELDS or TRACE_ENUM", text);     \
  static_assert(mistake != 60, "the message has a brace without its partner; write {{ or }} for a brace: (" text ")"); \
  static_assert(mistake != 70, "the message has more placeholders than there are arguments: (" text ")");              \
  static_assert(mistake != 80, "the message names a field that is not among the arguments: (" text ")");               \
  static_assert(mistake != 90, "the message mixes {} with numbered placeholders: (" text ")");                         \
  TRACING_INTERNAL_REFUSE_EACH_(mistake, 101, 102, 103, 104,                                                           \
                                "cannot be printed with the message's format specification", text)

// A pointer to the statement's own callsite: a constant. The lambda is there because a constexpr function may not
// declare a static variable itself; nothing of the user's is in it but the level, the name and the message.
#define TRACING_INTERNAL_CALLSITE_(...) TRACING_INTERNAL_CALLSITE_LAMBDA_(__VA_ARGS__)()
#define TRACING_INTERNAL_CALLSITE_LAMBDA_(n, kind, level, types, text, skipped, name, message, message_size) \
  []() noexcept -> ::tracing::Callsite* {                                                                    \
    static constexpr auto tracing_parsed_##n = ::tracing::internal::parse_statement<types>(                  \
        {text, sizeof(text) - 1, __PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1, __FILE__, name,       \
         TRACING_INTERNAL_TARGET_, message, message_size, skipped, kind, level, TRACING_INTERNAL_MAX_LEVEL_, \
         __LINE__});                                                                                         \
    constexpr unsigned tracing_mistake_##n = tracing_parsed_##n.mistake_number();                            \
    TRACING_INTERNAL_CHECK_(tracing_mistake_##n, text);                                                      \
    static constexpr ::tracing::internal::StaticMetadata<                                                    \
        tracing_parsed_##n.value_count, tracing_parsed_##n.hole_count,                                       \
        tracing_parsed_##n.characters> tracing_metadata_##n(tracing_parsed_##n);                             \
    static TRACING_INTERNAL_CONSTINIT_ ::tracing::Callsite tracing_static_##n(tracing_metadata_##n);         \
    return &tracing_static_##n;                                                                              \
  }

// ---- events ----

#define TRACING_INTERNAL_EVENT_(level, text, ...) TRACING_INTERNAL_EVENT_N_(__COUNTER__, level, text, __VA_ARGS__)
#define TRACING_INTERNAL_EVENT_N_(n, level, text, ...) \
  TRACING_INTERNAL_EVENT_OF_KIND_(n, ::tracing::internal::kEventKind, level, text, __VA_ARGS__)
#define TRACING_INTERNAL_EVENT_OF_KIND_(n, kind, level, text, ...)                                                     \
  do {                                                                                                                 \
    static_assert(sizeof(text) > 1, "an event takes a message first; TRACE_VALUES is one without a message");          \
    static_assert(                                                                                                     \
        ::tracing::internal::kIsLiteral<decltype((TRACING_INTERNAL_FIRST_(__VA_ARGS__, )))>,                           \
        "the message must be a string literal; a text made at run time is an argument, (\"{}\", text): (" text ")");   \
    using tracing_types_##n [[maybe_unused]] =                                                                         \
        decltype(::tracing::internal::an_event_takes_a_message_and_values(__VA_ARGS__));                               \
    TRACING_INTERNAL_IF_COMPILED_IN_(level) {                                                                          \
      if (!TRACING_INTERNAL_AT_COMPILE_TIME_) {                                                                        \
        ::tracing::Callsite* const tracing_callsite_##n = TRACING_INTERNAL_CALLSITE_(                                  \
            n, kind, level, tracing_types_##n, text, 1, "event",                                                       \
            TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), sizeof(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) - 1);               \
        if (tracing_callsite_##n->may_be_enabled()) [[unlikely]]                                                       \
          if (auto const tracing_verdict_##n = tracing_callsite_##n->look_closer())                                    \
            ::tracing::internal::emit_event(*tracing_callsite_##n, tracing_verdict_##n, __VA_ARGS__);                  \
      }                                                                                                                \
    }                                                                                                                  \
    TRACING_INTERNAL_ELSE_CONSIDER_(__VA_ARGS__)                                                                       \
  } while (false)

#define TRACING_INTERNAL_VALUES_(text, ...) TRACING_INTERNAL_VALUES_N_(__COUNTER__, text, __VA_ARGS__)
#define TRACING_INTERNAL_VALUES_N_(n, text, ...) TRACING_INTERNAL_VALUES_NN_(n, text, __VA_ARGS__)
#define TRACING_INTERNAL_VALUES_NN_(n, text, ...)                                                                      \
  do {                                                                                                                 \
    using tracing_types_##n [[maybe_unused]] =                                                                         \
        decltype(::tracing::internal::this_takes_a_level_and_values(__VA_ARGS__));                                     \
    TRACING_INTERNAL_IF_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) {                                         \
      if (!TRACING_INTERNAL_AT_COMPILE_TIME_) {                                                                        \
        ::tracing::Callsite* const tracing_callsite_##n =                                                              \
            TRACING_INTERNAL_CALLSITE_(n, ::tracing::internal::kEventKind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),     \
                                       tracing_types_##n, text, 1, "event", nullptr, 0);                               \
        if (tracing_callsite_##n->may_be_enabled()) [[unlikely]]                                                       \
          if (auto const tracing_verdict_##n = tracing_callsite_##n->look_closer())                                    \
            ::tracing::internal::emit_values(*tracing_callsite_##n, tracing_verdict_##n, __VA_ARGS__);                 \
      }                                                                                                                \
    }                                                                                                                  \
    TRACING_INTERNAL_ELSE_CONSIDER_(__VA_ARGS__)                                                                       \
  } while (false)

// ---- spans ----

// Several declarations, the later ones naming the earlier: `if (c) TRACE_SPAN(...)` without braces does not compile,
// which is what a span whose scope would be that one statement deserves. The name of the first is what the compiler
// then says.
#define TRACING_INTERNAL_SCOPE_(open, types, skipped, name, text, ...) \
  TRACING_INTERNAL_SCOPE_N_(__COUNTER__, open, types, skipped, name, text, __VA_ARGS__)
#define TRACING_INTERNAL_SCOPE_N_(n, open, types, skipped, name, text, ...) \
  TRACING_INTERNAL_SCOPE_NN_(n, open, types, skipped, name, text, __VA_ARGS__)
#if defined(TRACING_DISABLED)
#define TRACING_INTERNAL_SCOPE_NN_(n, open, types, skipped, name, text, ...)                                  \
  using put_braces_around_this_span_##n [[maybe_unused]] = decltype(::tracing::internal::types(__VA_ARGS__)); \
  static_assert(put_braces_around_this_span_##n::kCount <= ::tracing::internal::kMaxArguments);               \
  if (false) ::tracing::internal::consider(__VA_ARGS__)
#else
#define TRACING_INTERNAL_SCOPE_NN_(n, open, types, skipped, name, text, ...)                                      \
  using put_braces_around_this_span_##n [[maybe_unused]] = decltype(::tracing::internal::types(__VA_ARGS__));     \
  ::tracing::Callsite* tracing_callsite_##n =                                                                     \
      !TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) || TRACING_INTERNAL_AT_COMPILE_TIME_ \
          ? nullptr                                                                                               \
          : TRACING_INTERNAL_CALLSITE_(n, ::tracing::internal::kSpanKind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), \
                                       put_braces_around_this_span_##n, text, skipped, name, nullptr, 0);         \
  ::tracing::Verdict const tracing_verdict_##n = ::tracing::internal::verdict_of(tracing_callsite_##n);           \
  ::tracing::internal::ScopeOf<TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, ))>             \
      tracing_span_##n;                                                                                           \
  if (tracing_verdict_##n != 0) [[unlikely]]                                                                      \
  ::tracing::internal::open(tracing_span_##n, *tracing_callsite_##n, tracing_verdict_##n, __VA_ARGS__)
#endif

#define TRACING_INTERNAL_HANDLE_(text, ...) TRACING_INTERNAL_HANDLE_N_(__COUNTER__, text, __VA_ARGS__)
#define TRACING_INTERNAL_HANDLE_N_(n, text, ...) TRACING_INTERNAL_HANDLE_NN_(n, text, __VA_ARGS__)
#define TRACING_INTERNAL_HANDLE_NN_(n, text, ...)                                                                      \
  __extension__({                                                                                                      \
    using tracing_types_##n [[maybe_unused]] =                                                                         \
        decltype(::tracing::internal::a_span_takes_a_level_a_name_and_values(__VA_ARGS__));                            \
    ::tracing::Callsite* const tracing_callsite_##n =                                                                  \
        !TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, ))                                         \
            ? nullptr                                                                                                  \
            : TRACING_INTERNAL_CALLSITE_(n, ::tracing::internal::kSpanKind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),    \
                                         tracing_types_##n, text, 2, TRACING_INTERNAL_SECOND_(__VA_ARGS__, ), nullptr, \
                                         0);                                                                           \
    ::tracing::Verdict const tracing_verdict_##n = ::tracing::internal::verdict_of(tracing_callsite_##n);              \
    tracing_verdict_##n == 0                                                                                           \
        ? ::tracing::Span()                                                                                            \
        : ::tracing::internal::make_span(*tracing_callsite_##n, tracing_verdict_##n, __VA_ARGS__);                     \
  })

#define TRACING_INTERNAL_ENABLED_(text, ...) TRACING_INTERNAL_ENABLED_N_(__COUNTER__, text, __VA_ARGS__)
#define TRACING_INTERNAL_ENABLED_N_(n, text, ...) TRACING_INTERNAL_ENABLED_NN_(n, text, __VA_ARGS__)
#define TRACING_INTERNAL_ENABLED_NN_(n, text, ...)                                                                    \
  (TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) &&                                           \
   ::tracing::internal::verdict_by(TRACING_INTERNAL_CALLSITE_LAMBDA_(                                                 \
       n, ::tracing::internal::kEventKind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),                                    \
       decltype(::tracing::internal::this_takes_a_level_and_values(__VA_ARGS__)), text, 1, "enabled", nullptr, 0)) != \
       0)

// ---- the public names ----

/// A span from here to the end of the scope: TRACING_SPAN(debug, "launch", grid, tracing::kv("rows", m.rows())).
#define TRACING_SPAN(...)                                                                                         \
  TRACING_INTERNAL_SCOPE_(open_scope, a_span_takes_a_level_a_name_and_values, 2,                                  \
                          TRACING_INTERNAL_SECOND_(::tracing::internal::a_level_comes_first_not_##__VA_ARGS__, ), \
                          #__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// The same, named after the function: TRACING_FN(debug, size).
#define TRACING_FN(...)                                                                            \
  TRACING_INTERNAL_SCOPE_(open_function_scope, this_takes_a_level_and_values, 1, "", #__VA_ARGS__, \
                          ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// A Span, to be entered where and when wanted: auto span = TRACING_MAKE_SPAN(info, "request", id).
#define TRACING_MAKE_SPAN(...) \
  TRACING_INTERNAL_HANDLE_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)

/// An event: TRACING_DEBUG("moved {} bytes", n, stream). Arguments that the message does not use are fields.
#define TRACING_ERROR(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_error, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_WARN(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_warn, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_INFO(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_info, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_DEBUG(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_debug, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_TRACE(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_trace, #__VA_ARGS__, __VA_ARGS__)
/// An event whose level is the first argument, a bare word: TRACING_LOG(warn, "...").
#define TRACING_LOG(level, ...) \
  TRACING_INTERNAL_EVENT_(::tracing::internal::a_level_comes_first_not_##level, #__VA_ARGS__, __VA_ARGS__)
/// An event with fields and no message: TRACING_VALUES(info, x, y).
#define TRACING_VALUES(...) \
  TRACING_INTERNAL_VALUES_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// Whether anybody would want an event here now: TRACING_ENABLED(debug). Never a constant, and so not for what a
/// constexpr function does at compile time: `bool const on = TRACING_ENABLED(debug)` has to ask, too.
#define TRACING_ENABLED(...) \
  TRACING_INTERNAL_ENABLED_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)

#if !defined(TRACING_NO_SHORT_MACROS)
#define TRACE_SPAN(...)                                                                                           \
  TRACING_INTERNAL_SCOPE_(open_scope, a_span_takes_a_level_a_name_and_values, 2,                                  \
                          TRACING_INTERNAL_SECOND_(::tracing::internal::a_level_comes_first_not_##__VA_ARGS__, ), \
                          #__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
#define TRACE_FN(...)                                                                              \
  TRACING_INTERNAL_SCOPE_(open_function_scope, this_takes_a_level_and_values, 1, "", #__VA_ARGS__, \
                          ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
#define TRACE_MAKE_SPAN(...) \
  TRACING_INTERNAL_HANDLE_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)

#define TRACE_ERROR(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_error, #__VA_ARGS__, __VA_ARGS__)
#define TRACE_WARN(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_warn, #__VA_ARGS__, __VA_ARGS__)
#define TRACE_INFO(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_info, #__VA_ARGS__, __VA_ARGS__)
#define TRACE_DEBUG(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_debug, #__VA_ARGS__, __VA_ARGS__)
#define TRACE_TRACE(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_trace, #__VA_ARGS__, __VA_ARGS__)
#define TRACE_LOG(level, ...) \
  TRACING_INTERNAL_EVENT_(::tracing::internal::a_level_comes_first_not_##level, #__VA_ARGS__, __VA_ARGS__)
#define TRACE_VALUES(...) \
  TRACING_INTERNAL_VALUES_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
#define TRACE_ENABLED(...) \
  TRACING_INTERNAL_ENABLED_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
#endif
