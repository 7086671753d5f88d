// The functions of this folder's translation units, each compiled in its own way with all warnings as errors.
#pragma once

namespace hygiene {

/// Emits each kind of span and event while hostile names are macros.
void hostile_names_before(int number);
void hostile_names_after(int number);
/// The same with the user's variables named like the library's helpers.
void names_of_helpers();
/// The same without the short macros.
void without_short_macros(int number);
/// The same under `#define TRACE_TARGET "own::target"`.
void with_own_target(int n);
/// Calls use_header() of header.h.
void through_header(int n);

/// Emits spans and events without exceptions, without type information, without both.
void without_exceptions(int n);
void without_type_information(int n);
void without_both(int n);

}  // namespace hygiene
