// TRACE_FIELDS and TRACE_ENUM describe how a class or an enumeration prints. TRACING_FIELDS and TRACING_ENUM are their
// long names.
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
  case type::enumerator: return #enumerator;

/// Lists the members that a class prints, in order: TRACING_FIELDS(CubeDim, x, y, z) prints `CubeDim { x: 16, y: 16, z:
/// 1 }`. Takes at most 41 members, and prints their names without an underscore at the end.
///
/// The macro expands to a function definition. So it can follow `template <...>`, and also `friend`, to print private
/// members:
///
///     template <class T>
///     TRACING_FIELDS(Span<T>, data, size)     // in the class's namespace
///
///     class Block {
///       friend TRACING_FIELDS(Block, data_, size_)
///
/// Inside the class `friend` may be left out if the members are public. A class with several template parameters lists
/// its members inside, where its name needs no template arguments.
#define TRACING_FIELDS(type, ...)                                                                           \
  inline void tracing_write_fields [[maybe_unused]] (::tracing::DebugWriter & writer, type const& object) { \
    writer.begin_struct(::tracing::internal::unqualified(#type));                                           \
    TRACING_INTERNAL_FOR_EACH_(TRACING_INTERNAL_WRITE_FIELD_, type, __VA_ARGS__)                            \
    (void)object;                                                                                           \
    writer.end();                                                                                           \
  }

/// Lists the enumerators that print by name; other values print as numbers: TRACING_ENUM(Mode, checked, unchecked).
/// Must be in the type's namespace or, for an enumeration inside a class, as a friend in this class: `friend
/// TRACING_ENUM(Mode, checked, unchecked)`. Takes at most 41 enumerators.
#define TRACING_ENUM(type, ...)                                                                 \
  constexpr ::std::string_view tracing_enumerator_name [[maybe_unused]] (type value) noexcept { \
    switch (value) {                                                                            \
      TRACING_INTERNAL_FOR_EACH_(TRACING_INTERNAL_ENUM_CASE_, type, __VA_ARGS__)                \
      default: return {};                                                                       \
    }                                                                                           \
  }

#include "tracing_core/support/short_macros.inc"

namespace tracing { inline namespace v1 { namespace internal {

// Returns the name of a class without its scope and its template arguments.
constexpr std::string_view unqualified(std::string_view type) noexcept {
  type = type.substr(0, type.find('<'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  std::size_t const colons = type.rfind("::");
  return colons == std::string_view::npos ? type : type.substr(colons + 2);
}

}}}  // namespace tracing::v1::internal
