// Declares TRACE_FIELDS and TRACE_ENUM, also as TRACING_FIELDS and TRACING_ENUM, which say how an aggregate or enumeration of
// a user prints.
#pragma once

#include <string_view>

#include "tracing_core/model/value_of.h"

// One call of `macro(context, item)` for each item, by rescanning: the standard's __VA_OPT__ idiom.
#define TRACING_INTERNAL_PARENTHESES_ ()
#define TRACING_INTERNAL_RESCAN_(...) \
  TRACING_INTERNAL_RESCAN3_(TRACING_INTERNAL_RESCAN3_(TRACING_INTERNAL_RESCAN3_(__VA_ARGS__)))
#define TRACING_INTERNAL_RESCAN3_(...) \
  TRACING_INTERNAL_RESCAN2_(TRACING_INTERNAL_RESCAN2_(TRACING_INTERNAL_RESCAN2_(__VA_ARGS__)))
#define TRACING_INTERNAL_RESCAN2_(...) \
  TRACING_INTERNAL_RESCAN1_(TRACING_INTERNAL_RESCAN1_(TRACING_INTERNAL_RESCAN1_(__VA_ARGS__)))
#define TRACING_INTERNAL_RESCAN1_(...) __VA_ARGS__
#define TRACING_INTERNAL_FOR_EACH_(macro, context, ...) \
  __VA_OPT__(TRACING_INTERNAL_RESCAN_(TRACING_INTERNAL_FOR_ONE_(macro, context, __VA_ARGS__)))
#define TRACING_INTERNAL_FOR_ONE_(macro, context, item, ...) \
  macro(context, item) __VA_OPT__(TRACING_INTERNAL_FOR_NEXT_ TRACING_INTERNAL_PARENTHESES_(macro, context, __VA_ARGS__))
#define TRACING_INTERNAL_FOR_NEXT_() TRACING_INTERNAL_FOR_ONE_

#define TRACING_INTERNAL_WRITE_FIELD_(type, member) ::tracing::internal::write_field(writer, #member, object.member);
#define TRACING_INTERNAL_ENUM_CASE_(type, enumerator) \
  case type::enumerator:                              \
    return #enumerator;

#define TRACING_INTERNAL_FIELDS_(type, text, ...)                                                         \
  [[maybe_unused]] inline void tracing_write_fields(::tracing::DebugWriter& writer, type const& object) { \
    writer.begin_struct(::tracing::internal::unqualified(text));                                          \
    TRACING_INTERNAL_FOR_EACH_(TRACING_INTERNAL_WRITE_FIELD_, type, __VA_ARGS__)                          \
    (void)object;                                                                                         \
    writer.end();                                                                                         \
  }
#define TRACING_INTERNAL_ENUM_(type, ...)                                                      \
  [[maybe_unused]] constexpr ::std::string_view tracing_enumerator_name(type value) noexcept { \
    switch (value) {                                                                           \
      TRACING_INTERNAL_FOR_EACH_(TRACING_INTERNAL_ENUM_CASE_, type, __VA_ARGS__)               \
      default:                                                                                 \
        return {};                                                                             \
    }                                                                                          \
  }

/// Says which members of a type print, in which order: `CubeDim { x: 16, y: 16, z: 1 }`. Stands in the type's namespace;
/// at most 27 members. TRACING_FIELDS(CubeDim, x, y, z)
#define TRACING_FIELDS(type, ...) TRACING_INTERNAL_FIELDS_(type, #type, __VA_ARGS__)
/// Says which enumerators print by name; others print as numbers. Stands in the type's namespace; at most 27.
/// TRACING_ENUM(Mode, checked, unchecked)
#define TRACING_ENUM(type, ...) TRACING_INTERNAL_ENUM_(type, __VA_ARGS__)

#if !defined(TRACING_NO_SHORT_MACROS)
#define TRACE_FIELDS(type, ...) TRACING_INTERNAL_FIELDS_(type, #type, __VA_ARGS__)
#define TRACE_ENUM(type, ...) TRACING_INTERNAL_ENUM_(type, __VA_ARGS__)
#endif

namespace tracing::inline v1::internal {

constexpr std::string_view unqualified(std::string_view type) noexcept {
  std::size_t const colons = type.rfind("::");
  return colons == std::string_view::npos ? type : type.substr(colons + 2);
}

}  // namespace tracing::inline v1::internal
