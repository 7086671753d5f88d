// TRACE_FIELDS and TRACE_ENUM describe how an aggregate or an enumeration prints. Also named TRACING_FIELDS,
// TRACING_ENUM.
#pragma once

#include <string_view>

#include "tracing_core/model/value_of.h"

// Expands `macro(context, item)` for each item by rescanning, the __VA_OPT__ idiom.
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

/// Lists the members that a type prints, in order: TRACING_FIELDS(CubeDim, x, y, z) prints
/// `CubeDim { x: 16, y: 16, z: 1 }`. Must be in the type's namespace; takes at most 27 members.
#define TRACING_FIELDS(type, ...)                                                                         \
  [[maybe_unused]] inline void tracing_write_fields(::tracing::DebugWriter& writer, type const& object) { \
    writer.begin_struct(::tracing::internal::unqualified(#type));                                         \
    TRACING_INTERNAL_FOR_EACH_(TRACING_INTERNAL_WRITE_FIELD_, type, __VA_ARGS__)                          \
    (void)object;                                                                                         \
    writer.end();                                                                                         \
  }

/// Lists the enumerators that print by name, others print as numbers: TRACING_ENUM(Mode, checked, unchecked). Must be
/// in the type's namespace; takes at most 27 enumerators.
#define TRACING_ENUM(type, ...)                                                                \
  [[maybe_unused]] constexpr ::std::string_view tracing_enumerator_name(type value) noexcept { \
    switch (value) {                                                                           \
      TRACING_INTERNAL_FOR_EACH_(TRACING_INTERNAL_ENUM_CASE_, type, __VA_ARGS__)               \
      default:                                                                                 \
        return {};                                                                             \
    }                                                                                          \
  }

#if !defined(TRACING_NO_SHORT_MACROS)
#define TRACE_FIELDS TRACING_FIELDS
#define TRACE_ENUM TRACING_ENUM
#endif

namespace tracing::inline v1::internal {

constexpr std::string_view unqualified(std::string_view type) noexcept {
  std::size_t const colons = type.rfind("::");
  return colons == std::string_view::npos ? type : type.substr(colons + 2);
}

}  // namespace tracing::inline v1::internal
