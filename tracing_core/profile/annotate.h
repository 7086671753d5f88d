// Annotations: scopes that only a profile sees, and that cost as much as a disabled span while no profile is recorded.
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

namespace tracing { inline namespace v1 {

/// The importance of an annotation. A profile has annotations up to the level ProfilerOptions::annotations.
enum class AnnotationLevel : std::uint8_t { critical, info, verbose };

namespace internal {

// Returns the level of the span that an annotation becomes in a recording.
constexpr Level level_of(AnnotationLevel level) noexcept {
  return level == AnnotationLevel::critical ? Level::info
                                            : (level == AnnotationLevel::info ? Level::debug : Level::trace);
}

// The words for levels, like `a_level_comes_first_not_` of the other macros.
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

// Tell if annotations whose name is known only at run time are wanted. Each level has one callsite for all of its
// annotations, which emits nothing itself.
inline constexpr Metadata annotation_gate_metadata[3] = {Metadata(annotation_gate_parts(AnnotationLevel::critical)),
                                                         Metadata(annotation_gate_parts(AnnotationLevel::info)),
                                                         Metadata(annotation_gate_parts(AnnotationLevel::verbose))};
inline TRACING_INTERNAL_CONSTINIT_ Callsite annotation_gates[3] = {Callsite(annotation_gate_metadata[0]),
                                                                   Callsite(annotation_gate_metadata[1]),
                                                                   Callsite(annotation_gate_metadata[2])};

// Makes the span of an annotation. Returns an empty span if no profile wants the annotation.
Span make_annotation(AnnotationLevel level, std::string_view name, std::string_view const* field_names,
                     Value const* values, std::size_t field_count) noexcept;

// Opens an annotation. A separate function, so that annotate() is small enough to be inlined.
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

#if defined(TRACING_DISABLED)
inline namespace disabled {

template <class F, class... T>
decltype(auto) annotate(AnnotationLevel, std::string_view, F&& f, internal::KeyValue<T>&&...) {
  return std::forward<F>(f)();
}
template <class F, class... T>
decltype(auto) annotate(std::string_view, F&& f, internal::KeyValue<T>&&...) {
  return std::forward<F>(f)();
}

}  // namespace disabled
#else

/// Calls `f()` inside an annotation and returns its result. For names that are known only at run time: the descriptions
/// of up to 4096 annotations are kept, and further descriptions are made anew each time. For other names prefer
/// TRACE_ANNOTATE, which does not even evaluate its arguments while no profile is recorded. Example:
///
///     tracing::annotate("layer " + name, [&] { forward(x); }, tracing::kv("batch", x.rows()));
template <class F, class... T>
decltype(auto) annotate(AnnotationLevel level, std::string_view name, F&& f, internal::KeyValue<T>&&... fields) {
  if (internal::annotation_gates[static_cast<std::size_t>(level)].may_be_enabled()) [[unlikely]] {
    std::string_view const names[] = {fields.name..., {}};
    Span const span = internal::open_annotation(level, name, names, fields.value...);
    auto const entered = span.enter();
    return std::forward<F>(f)();
  }
  return std::forward<F>(f)();
}
template <class F, class... T>
decltype(auto) annotate(std::string_view name, F&& f, internal::KeyValue<T>&&... fields) {
  return annotate(AnnotationLevel::critical, name, std::forward<F>(f), std::move(fields)...);
}

#endif

}}  // namespace tracing::v1

#pragma pop_macro("critical")
#pragma pop_macro("info")
#pragma pop_macro("verbose")
#pragma pop_macro("debug")
#pragma pop_macro("trace")

/// Opens an annotation until the end of the scope: TRACING_ANNOTATE("forward", layer, tracing::kv("batch", x.rows())).
/// Takes the arguments of TRACING_SPAN without the level. Only profiles see the annotation: see with_profiler().
#define TRACING_ANNOTATE(...)                                                                     \
  TRACING_INTERNAL_SCOPE_(kAnnotationKind, open_scope, a_span_takes_a_level_a_name_and_values, 1, \
                          TRACING_INTERNAL_FIRST_(__VA_ARGS__, ), #__VA_ARGS__,                   \
                          ::tracing::internal::an_annotation_level_comes_first_not_critical, __VA_ARGS__)
/// As TRACING_ANNOTATE, with a level, a bare word: critical, info or verbose. TRACING_ANNOTATE_AT(verbose, "row", i).
#define TRACING_ANNOTATE_AT(...)                                                                          \
  TRACING_INTERNAL_SCOPE_(                                                                                \
      kAnnotationKind, open_scope, a_span_takes_a_level_a_name_and_values, 2,                             \
      TRACING_INTERNAL_SECOND_(::tracing::internal::an_annotation_level_comes_first_not_##__VA_ARGS__, ), \
      #__VA_ARGS__, ::tracing::internal::an_annotation_level_comes_first_not_##__VA_ARGS__)
/// Opens a step of a program's main loop, for which TensorBoard has a row: TRACING_STEP(i).
#define TRACING_STEP(number)                                                                                     \
  TRACING_INTERNAL_SCOPE_(kAnnotationKind, open_scope, a_span_takes_a_level_a_name_and_values, 1, "step",        \
                          "\"step\", number", ::tracing::internal::an_annotation_level_comes_first_not_critical, \
                          "step", ::tracing::internal::step_number(number))

#include "tracing_core/support/short_macros.inc"
