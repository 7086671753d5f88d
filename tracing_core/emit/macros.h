// The macros of instrumented code. Each macro captures its source location, its own text and its arguments; the classes
// and functions of this folder do the work.
//
// Every public macro stringises its arguments and pastes the level itself, because forwarding would expand them first:
// a field `errno` keeps its name, and a program that defines `debug` as a macro can still use the level. Variables
// declared by an expansion have a number in their names, so that expansions can nest or share a line without shadowing.
// Every comma of an expansion is inside parentheses, because GoogleTest's statement macros forward their arguments.
#pragma once

#include <type_traits>

#include "tracing_core/emit/emit.h"
#include "tracing_core/emit/span.h"
#include "tracing_core/emit/static_metadata.h"

// TRACE_TARGET, if defined before this header is included, sets the target of every callsite in the file.
#ifdef TRACE_TARGET
#define TRACING_INTERNAL_TARGET_ TRACE_TARGET
#else
#define TRACING_INTERNAL_TARGET_ ""
#endif

// Replaced by for_callers.h.
#define TRACING_INTERNAL_STATEMENT_(callsite) callsite

// TRACING_MAX_LEVEL and TRACING_DISABLED come from the build of tracing::core, or from a target that wants fewer
// levels. They affect only the statements, and functions whose names depend on them.
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
// nvcc warns about is_constant_evaluated() in functions that are not constexpr, and does not recognize the constants in
// templates; the host compiler, which also compiles the expansion, does. For nvcc, a span's callsite is not a const
// pointer either, because nvcc would make it null.
#define TRACING_INTERNAL_AT_COMPILE_TIME_ ::tracing::internal::at_compile_time()
#define TRACING_INTERNAL_CONSTINIT_
namespace tracing { inline namespace v1 { namespace internal {
constexpr bool at_compile_time() noexcept { return std::is_constant_evaluated(); }
}}}  // namespace tracing::v1::internal
#else
#define TRACING_INTERNAL_AT_COMPILE_TIME_ __builtin_is_constant_evaluated()
#define TRACING_INTERNAL_CONSTINIT_ constinit
#endif

#define TRACING_INTERNAL_FIRST_(first, ...) first
#define TRACING_INTERNAL_SECOND_(first, second, ...) second

#define TRACING_INTERNAL_COMPILED_IN_(level) ((level) <= TRACING_INTERNAL_MAX_LEVEL_)
// If all levels are compiled in, as is usual, the check is left out to save compile time.
#if defined(TRACING_DISABLED) || defined(TRACING_MAX_LEVEL)
#define TRACING_INTERNAL_IF_COMPILED_IN_(level) if constexpr (TRACING_INTERNAL_COMPILED_IN_(level))
#define TRACING_INTERNAL_ELSE_MARK_USED_(...)    \
  else if (false) {                              \
    ::tracing::internal::mark_used(__VA_ARGS__); \
  }
#else
#define TRACING_INTERNAL_IF_COMPILED_IN_(level)
#define TRACING_INTERNAL_ELSE_MARK_USED_(...)
#endif

// Checks for each mistake. The first line of the compiler's error is a sentence about the mistake, followed by the text
// of the statement. Every statement checks for all mistakes, so they are compared by number: enumerator names would
// double the compile time of the checks.
#define TRACING_INTERNAL_CHECK_ARGUMENT_(mistake, first, second, third, later, sentence, text) \
  static_assert(mistake != first, "argument 1 " sentence ": (" text ")");                      \
  static_assert(mistake != second, "argument 2 " sentence ": (" text ")");                     \
  static_assert(mistake != third, "argument 3 " sentence ": (" text ")");                      \
  static_assert(mistake != later, "an argument after the third " sentence ": (" text ")")
#define TRACING_INTERNAL_CHECK_(mistake, types, text)                                                                  \
  static_assert(mistake != 10,                                                                                         \
                "cannot tell the arguments apart; put parentheses around the one with < or >: (" text ")");            \
  static_assert(mistake != 20, "too many arguments, or too many placeholders for them: (" text ")");                   \
  TRACING_INTERNAL_CHECK_ARGUMENT_(mistake, 31, 32, 33, 34, "needs a name, tracing::kv(\"name\", expression)", text);  \
  static_assert(mistake != 40,                                                                                         \
                "the name in tracing::kv and tracing::target must be a plain string literal: (" text ")");             \
  /* Tests a concept of the argument's type, because the compiler then prints the type below the sentence. */          \
  static_assert(::tracing::internal::Recordable<::tracing::internal::UnrecordableType<types>>,                         \
                "an argument has a type that cannot be recorded, named below; give it fmt::formatter, operator<<, "    \
                "TRACE_FIELDS (inside a class: friend TRACE_FIELDS) or TRACE_ENUM: (" text ")");                       \
  static_assert(mistake != 60, "the message has a brace without its partner; write {{ or }} for a brace: (" text ")"); \
  static_assert(mistake != 70, "the message has more placeholders than there are arguments: (" text ")");              \
  static_assert(mistake != 80, "the message names a field that is not among the arguments: (" text ")");               \
  static_assert(mistake != 90, "the message mixes {} with numbered placeholders: (" text ")");                         \
  TRACING_INTERNAL_CHECK_ARGUMENT_(mistake, 101, 102, 103, 104,                                                        \
                                   "cannot be printed with the message's format specification", text);                 \
  static_assert(mistake != 110, "two fields have the same name: (" text ")");                                          \
  static_assert(mistake != 120, "tracing::threshold cannot be recorded, only perf spans have one: (" text ")")

// Declares `name`, a variable with the type that `call` would return. If an argument does not compile, `auto` keeps the
// compiler from reporting follow-up errors about everything made from the variable.
#if defined(TRACING_DISABLED) || defined(TRACING_MAX_LEVEL)  // a coroutine frame would store a variable
#define TRACING_INTERNAL_RESULT_(name, call) using name [[maybe_unused]] = decltype(call)
#elif defined(__clang__)  // in a variable's declaration, Clang would report an unavailable function only at the end
#define TRACING_INTERNAL_RESULT_(name, call) \
  using name##_type = decltype(call);        \
  [[maybe_unused]] constexpr auto name = name##_type {}
#else
#define TRACING_INTERNAL_RESULT_(name, call) \
  [[maybe_unused]] constexpr auto name = decltype(call) {}
#endif
#if defined(TRACING_DISABLED) || defined(TRACING_MAX_LEVEL)
#define TRACING_INTERNAL_TYPE_OF_(name) name
#else
#define TRACING_INTERNAL_TYPE_OF_(name) decltype(name)
#endif

// A constant pointer to the statement's own callsite. The macro needs a lambda because a constexpr function may not
// declare a static variable. From the user's code, only the level, the name and the message are inside the lambda.
#define TRACING_INTERNAL_CALLSITE_(...) TRACING_INTERNAL_CALLSITE_LAMBDA_(__VA_ARGS__)()
#define TRACING_INTERNAL_CALLSITE_LAMBDA_(...) \
  []() noexcept -> ::tracing::Callsite* TRACING_INTERNAL_CALLSITE_BODY_(__VA_ARGS__)
// Takes the types of the arguments as a parameter of the lambda: inside a lambda that initializes a member of a class
// template, GCC does not find the other members.
#define TRACING_INTERNAL_CALLSITE_TEMPLATE_(types, ...) \
  []<class types>(types*) noexcept -> ::tracing::Callsite* TRACING_INTERNAL_CALLSITE_BODY_(__VA_ARGS__)
#define TRACING_INTERNAL_CALLSITE_BODY_(n, kind, level, types, text, skipped, name, message, message_size)   \
  {                                                                                                          \
    static constexpr auto tracing_parsed_##n = ::tracing::internal::parse_statement<types::kCount>(          \
        {text, sizeof(text) - 1, __PRETTY_FUNCTION__, __builtin_strlen(__PRETTY_FUNCTION__), __FILE__, name, \
         TRACING_INTERNAL_TARGET_, message, message_size, skipped, kind, level, TRACING_INTERNAL_MAX_LEVEL_, \
         __LINE__},                                                                                          \
        types::kInfo, types::kAreNumbers);                                                                   \
    constexpr auto tracing_mistake_##n = tracing_parsed_##n.mistake_number();                                \
    typedef types tracing_list_##n; /* int, without another error, if an argument does not compile */        \
    TRACING_INTERNAL_CHECK_(tracing_mistake_##n, tracing_list_##n, text);                                    \
    static constexpr auto tracing_metadata_##n =                                                             \
        ::tracing::internal::StaticMetadata<tracing_parsed_##n.sizes()>(tracing_parsed_##n);                 \
    static TRACING_INTERNAL_CONSTINIT_ ::tracing::Callsite tracing_static_##n(tracing_metadata_##n);         \
    return TRACING_INTERNAL_STATEMENT_(&tracing_static_##n);                                                 \
  }

// ---- events ----

#define TRACING_INTERNAL_EVENT_(level, text, ...) TRACING_INTERNAL_EVENT_N_(__COUNTER__, level, text, __VA_ARGS__)
#define TRACING_INTERNAL_EVENT_N_(n, level, text, ...) \
  TRACING_INTERNAL_EVENT_OF_KIND_(n, ::tracing::internal::kEventKind, level, text, __VA_ARGS__)
#define TRACING_INTERNAL_EVENT_OF_KIND_(n, kind, level, text, ...)                                                   \
  do {                                                                                                               \
    static_assert(sizeof(text) > 1, "an event takes a message first; TRACE_VALUES is one without a message");        \
    static_assert(                                                                                                   \
        ::tracing::internal::kIsLiteral<decltype((TRACING_INTERNAL_FIRST_(__VA_ARGS__, )))>,                         \
        "the message must be a string literal; a text made at run time is an argument, (\"{}\", text): (" text ")"); \
    TRACING_INTERNAL_RESULT_(tracing_types_##n,                                                                      \
                             ::tracing::internal::an_event_takes_a_message_and_values(__VA_ARGS__));                 \
    TRACING_INTERNAL_IF_COMPILED_IN_(level) {                                                                        \
      if (!TRACING_INTERNAL_AT_COMPILE_TIME_) {                                                                      \
        ::tracing::Callsite* const tracing_callsite_##n = TRACING_INTERNAL_CALLSITE_(                                \
            n, kind, level, TRACING_INTERNAL_TYPE_OF_(tracing_types_##n), text, 1, "event",                          \
            TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), sizeof(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) - 1);             \
        if (tracing_callsite_##n->may_be_enabled()) [[unlikely]]                                                     \
          if (auto const tracing_mask_##n = tracing_callsite_##n->enabled_slow()) [[likely]]                         \
            ::tracing::internal::emit_event(*tracing_callsite_##n, tracing_mask_##n, __VA_ARGS__);                   \
      }                                                                                                              \
    }                                                                                                                \
    TRACING_INTERNAL_ELSE_MARK_USED_(__VA_ARGS__)                                                                    \
  } while (false)

#define TRACING_INTERNAL_VALUES_(text, ...) TRACING_INTERNAL_VALUES_N_(__COUNTER__, text, __VA_ARGS__)
#define TRACING_INTERNAL_VALUES_N_(n, text, ...) TRACING_INTERNAL_VALUES_NN_(n, text, __VA_ARGS__)
#define TRACING_INTERNAL_VALUES_NN_(n, text, ...)                                                                   \
  do {                                                                                                              \
    TRACING_INTERNAL_RESULT_(tracing_types_##n, ::tracing::internal::this_takes_a_level_and_values(__VA_ARGS__));   \
    TRACING_INTERNAL_IF_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) {                                      \
      if (!TRACING_INTERNAL_AT_COMPILE_TIME_) {                                                                     \
        ::tracing::Callsite* const tracing_callsite_##n =                                                           \
            TRACING_INTERNAL_CALLSITE_(n, ::tracing::internal::kEventKind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),  \
                                       TRACING_INTERNAL_TYPE_OF_(tracing_types_##n), text, 1, "event", nullptr, 0); \
        if (tracing_callsite_##n->may_be_enabled()) [[unlikely]]                                                    \
          if (auto const tracing_mask_##n = tracing_callsite_##n->enabled_slow()) [[likely]]                        \
            ::tracing::internal::emit_values(*tracing_callsite_##n, tracing_mask_##n, __VA_ARGS__);                 \
      }                                                                                                             \
    }                                                                                                               \
    TRACING_INTERNAL_ELSE_MARK_USED_(__VA_ARGS__)                                                                   \
  } while (false)

// ---- spans ----

// Expands to several declarations, where later declarations refer to earlier ones. So `if (c) TRACE_SPAN(...)` without
// braces does not compile: the `if` would cover only the first declaration. The compiler's error contains the name of
// this declaration.
#define TRACING_INTERNAL_SCOPE_(kind, open, types, skipped, name, text, ...) \
  TRACING_INTERNAL_SCOPE_N_(__COUNTER__, kind, open, types, skipped, name, text, __VA_ARGS__)
#define TRACING_INTERNAL_SCOPE_N_(n, kind, open, types, skipped, name, text, ...) \
  TRACING_INTERNAL_SCOPE_NN_(n, kind, open, types, skipped, name, text, __VA_ARGS__)
#if defined(TRACING_DISABLED)
#define TRACING_INTERNAL_SCOPE_NN_(n, kind, open, types, skipped, name, text, ...)                    \
  TRACING_INTERNAL_RESULT_(put_braces_around_this_span_##n, ::tracing::internal::types(__VA_ARGS__)); \
  static_assert(put_braces_around_this_span_##n::kCount <= ::tracing::internal::kMaxArguments);       \
  if (false) ::tracing::internal::mark_used(__VA_ARGS__)
#else
// clang-format would indent the nested conditions as statements beside each other. clang-format off
#define TRACING_INTERNAL_SCOPE_NN_(n, kind, open, types, skipped, name, text, ...)                                \
  TRACING_INTERNAL_RESULT_(put_braces_around_this_span_##n, ::tracing::internal::types(__VA_ARGS__));             \
  ::tracing::Callsite* tracing_callsite_##n =                                                                     \
      !TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) || TRACING_INTERNAL_AT_COMPILE_TIME_ \
          ? nullptr                                                                                               \
          : TRACING_INTERNAL_CALLSITE_(n, ::tracing::internal::kind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),      \
                                       TRACING_INTERNAL_TYPE_OF_(put_braces_around_this_span_##n), text, skipped, \
                                       name, nullptr, 0);                                                         \
  ::tracing::internal::ScopeOf<TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, ))>             \
      tracing_span_##n;                                                                                           \
  if (::tracing::internal::may_be_enabled(tracing_callsite_##n)) [[unlikely]]                                     \
    if (auto const tracing_mask_##n = tracing_callsite_##n->enabled_slow())                                       \
  ::tracing::internal::open(tracing_span_##n, *tracing_callsite_##n, tracing_mask_##n, __VA_ARGS__)
// clang-format on
#endif

#define TRACING_INTERNAL_HANDLE_(text, ...) \
  TRACING_INTERNAL_HANDLE_N_(__COUNTER__, kSpanKind, 2, TRACING_INTERNAL_SECOND_(__VA_ARGS__, ), text, __VA_ARGS__)
#define TRACING_INTERNAL_HANDLE_N_(n, kind, skipped, name, text, ...) \
  TRACING_INTERNAL_HANDLE_NN_(n, kind, skipped, name, text, __VA_ARGS__)
// Expands to one expression, so that it can initialize globals and members. The condition finds the callsite and stores
// it in a thread_local variable; the branch takes it from there before it evaluates the arguments.
#define TRACING_INTERNAL_HANDLE_NN_(n, kind, skipped, name, text, ...)                                                 \
  (::tracing::internal::kConstant<TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, ))> &&            \
           ::tracing::internal::find_span<decltype(::tracing::internal::a_span_takes_a_level_a_name_and_values(        \
               __VA_ARGS__))>(TRACING_INTERNAL_CALLSITE_TEMPLATE_(tracing_types_##n, n, ::tracing::internal::kind,     \
                                                                  TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),              \
                                                                  tracing_types_##n, text, skipped, name, nullptr, 0)) \
       ? ::tracing::internal::found_span()(__VA_ARGS__)                                                                \
       : ::tracing::Span())

#define TRACING_INTERNAL_ENABLED_(text, ...) TRACING_INTERNAL_ENABLED_N_(__COUNTER__, text, __VA_ARGS__)
#define TRACING_INTERNAL_ENABLED_N_(n, text, ...) TRACING_INTERNAL_ENABLED_NN_(n, text, __VA_ARGS__)
#define TRACING_INTERNAL_ENABLED_NN_(n, text, ...)                                                                    \
  (TRACING_INTERNAL_COMPILED_IN_(TRACING_INTERNAL_FIRST_(__VA_ARGS__, )) &&                                           \
   ::tracing::internal::mask_by(TRACING_INTERNAL_CALLSITE_LAMBDA_(                                                    \
       n, ::tracing::internal::kEventKind, TRACING_INTERNAL_FIRST_(__VA_ARGS__, ),                                    \
       decltype(::tracing::internal::this_takes_a_level_and_values(__VA_ARGS__)), text, 1, "enabled", nullptr, 0)) != \
       0)

// ---- the public names ----

/// Opens a span until the end of the scope: TRACING_SPAN(debug, "launch", grid, tracing::kv("rows", m.rows())).
#define TRACING_SPAN(...)                                                                                         \
  TRACING_INTERNAL_SCOPE_(kSpanKind, open_scope, a_span_takes_a_level_a_name_and_values, 2,                       \
                          TRACING_INTERNAL_SECOND_(::tracing::internal::a_level_comes_first_not_##__VA_ARGS__, ), \
                          #__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// As TRACING_SPAN, with the function's name as the span's name: TRACING_FN(debug, size).
#define TRACING_FN(...)                                                                                       \
  TRACING_INTERNAL_SCOPE_(kSpanKind, open_function_scope, this_takes_a_level_and_values, 1, "", #__VA_ARGS__, \
                          ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// Makes a Span handle without entering the span: auto span = TRACING_MAKE_SPAN(info, "request", id).
#define TRACING_MAKE_SPAN(...) \
  TRACING_INTERNAL_HANDLE_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)

/// Emits an event: TRACING_DEBUG("moved {} bytes", n, stream). Arguments that the message does not use become fields.
#define TRACING_ERROR(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_error, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_WARN(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_warn, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_INFO(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_info, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_DEBUG(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_debug, #__VA_ARGS__, __VA_ARGS__)
#define TRACING_TRACE(...) TRACING_INTERNAL_EVENT_(::tracing::internal::level_trace, #__VA_ARGS__, __VA_ARGS__)
/// Emits an event; the level is the first argument, a bare word: TRACING_LOG(warn, "...").
#define TRACING_LOG(level, ...) \
  TRACING_INTERNAL_EVENT_(::tracing::internal::a_level_comes_first_not_##level, #__VA_ARGS__, __VA_ARGS__)
/// Emits an event with fields and no message: TRACING_VALUES(info, x, y).
#define TRACING_VALUES(...) \
  TRACING_INTERNAL_VALUES_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)
/// Returns true if an event would be collected at this place now: TRACING_ENABLED(debug). Never a constant expression,
/// so a constexpr function cannot use it at compile time.
#define TRACING_ENABLED(...) \
  TRACING_INTERNAL_ENABLED_(#__VA_ARGS__, ::tracing::internal::a_level_comes_first_not_##__VA_ARGS__)

#include "tracing_core/support/short_macros.inc"
