// Annotations: scopes that only a profile sees, and that cost as much as a disabled span while none is recorded.
//
// Included by tracing.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tracing_core/emit/macros.h"

// Programs may have macros of these names.
#pragma push_macro("critical")
#pragma push_macro("info")
#pragma push_macro("verbose")
#pragma push_macro("debug")
#pragma push_macro("trace")
#undef critical
#undef info
#undef verbose
#undef debug
#undef trace

namespace tracing::inline v1 {

/// How much an annotation matters: ProfilerOptions::annotations says up to which level a profile has them.
enum class AnnotationLevel : std::uint8_t { critical, info, verbose };

namespace internal {

// The level of the span that an annotation is in a recording.
constexpr Level level_of(AnnotationLevel level) noexcept {
  return level == AnnotationLevel::critical ? Level::info
                                            : (level == AnnotationLevel::info ? Level::debug : Level::trace);
}

// As `a_level_comes_first_not_` of the other macros.
inline constexpr Level an_annotation_level_comes_first_not_critical = level_of(AnnotationLevel::critical);
inline constexpr Level an_annotation_level_comes_first_not_info = level_of(AnnotationLevel::info);
inline constexpr Level an_annotation_level_comes_first_not_verbose = level_of(AnnotationLevel::verbose);

// The field of TRACE_STEP, which TensorBoard knows by this name.
inline constexpr char kStepNumber[] = "step_num";
template <class T>
[[gnu::always_inline]] constexpr ConstantKeyValue<kStepNumber, T> step_number(T const& number) noexcept {
  return {number};
}

constexpr MetadataParts annotation_gate_parts(AnnotationLevel level) noexcept {
  MetadataParts parts;
  parts.text = "annotatetracing::annotate";
  parts.name_size = 8;
  parts.target_size = 17;
  parts.level = level_of(level);
  parts.max_level = LevelFilter::trace;
  parts.kind = Kind::span;
  parts.is_annotation = true;
  return parts;
}

// Whether annotations whose name is known only at run time are wanted: one callsite for all of a level, which emits
// nothing.
inline constexpr Metadata annotation_gate_metadata[3] = {Metadata(annotation_gate_parts(AnnotationLevel::critical)),
                                                         Metadata(annotation_gate_parts(AnnotationLevel::info)),
                                                         Metadata(annotation_gate_parts(AnnotationLevel::verbose))};
inline TRACING_INTERNAL_CONSTINIT_ Callsite annotation_gates[3] = {Callsite(annotation_gate_metadata[0]),
                                                                   Callsite(annotation_gate_metadata[1]),
                                                                   Callsite(annotation_gate_metadata[2])};

// Empty if no profile wants it.
Span make_annotation(AnnotationLevel level, std::string_view name, std::string_view const* field_names,
                     Value const* values, std::size_t field_count) noexcept;

// A function of its own, so that annotate() is small enough to be inlined.
template <class... T>
[[gnu::cold, gnu::noinline]] Span open_annotation(AnnotationLevel level, std::string_view name,
                                                  std::string_view const* field_names, T const&... fields) {
  return [&](Held<T> const&... held) {
    Value values[] = {held.value()..., {}};
    PrintedValues const printed(values, sizeof...(fields));
    return make_annotation(level, name, field_names, values, sizeof...(fields));
  }(Held<T>(fields)...);
}

}  // namespace internal

/// Calls `f()` inside an annotation and returns its result. For names that are known only at run time; a profile keeps the
/// description of up to 4096 of them and repeats it for others. TRACE_ANNOTATE does not even evaluate its arguments
/// while no profile is recorded:
///
///     tracing::annotate("layer " + name, [&] { forward(x); }, tracing::kv("batch", x.rows()));
template <class F, class... T>
decltype(auto) annotate(AnnotationLevel level, std::string_view name, F&& f,
                        [[maybe_unused]] internal::KeyValue<T>&&... fields) {
#if !defined(TRACING_DISABLED)
  if (internal::annotation_gates[static_cast<std::size_t>(level)].may_be_enabled()) [[unlikely]] {
    std::string_view const names[] = {fields.name..., {}};
    Span const span = internal::open_annotation(level, name, names, fields.value...);
    auto const entered = span.enter();
    return std::forward<F>(f)();
  }
#else
  (void)level, (void)name;
#endif
  return std::forward<F>(f)();
}
template <class F, class... T>
decltype(auto) annotate(std::string_view name, F&& f, internal::KeyValue<T>&&... fields) {
  return annotate(AnnotationLevel::critical, name, std::forward<F>(f), std::move(fields)...);
}

}  // namespace tracing::inline v1

#pragma pop_macro("critical")
#pragma pop_macro("info")
#pragma pop_macro("verbose")
#pragma pop_macro("debug")
#pragma pop_macro("trace")

/// An annotation from here to the end of the scope: TRACING_ANNOTATE("forward", layer, tracing::kv("batch", x.rows())).
/// It takes the arguments of TRACING_SPAN without the level. Only profiles see it: see with_profiler().
#define TRACING_ANNOTATE(...)                                                                                \
  TRACING_INTERNAL_SCOPE_(kAnnotationKind, open_scope, a_span_takes_a_level_a_name_and_values, 1,            \
                          TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), #__VA_ARGS__,                              \
                          ::tracing::internal::an_annotation_level_comes_first_not_critical, __VA_ARGS__)
/// The same with a level, a bare word: critical, info or verbose. TRACING_ANNOTATE_AT(verbose, "row", i).
#define TRACING_ANNOTATE_AT(...)                                                                             \
  TRACING_INTERNAL_SCOPE_(                                                                                   \
      kAnnotationKind, open_scope, a_span_takes_a_level_a_name_and_values, 2,                                \
      TRACING_INTERNAL_SECOND_(::tracing::internal::an_annotation_level_comes_first_not_##__VA_ARGS__, ),    \
      #__VA_ARGS__, ::tracing::internal::an_annotation_level_comes_first_not_##__VA_ARGS__)
/// A step of a program's main loop, which TensorBoard has a row for: TRACING_STEP(i).
#define TRACING_STEP(number)                                                                                 \
  TRACING_INTERNAL_SCOPE_(kAnnotationKind, open_scope, a_span_takes_a_level_a_name_and_values, 1, "step",    \
                          "\"step\", number",                                                               \
                          ::tracing::internal::an_annotation_level_comes_first_not_critical, "step",         \
                          ::tracing::internal::step_number(number))

#if !defined(TRACING_NO_SHORT_MACROS)
#define TRACE_ANNOTATE TRACING_ANNOTATE
#define TRACE_ANNOTATE_AT TRACING_ANNOTATE_AT
#define TRACE_STEP TRACING_STEP
#endif
