// The functions of this folder's translation units, each compiled in its own way with all warnings as errors.
#pragma once

namespace hygiene {

/// Emits each kind of span and event while hostile names are macros.
void hostile_names_before(int number);
void hostile_names_after(int number);
/// Emits each kind while the user's variables are named like the library's helpers.
void names_of_helpers();
/// Emits each kind without the short macros.
void without_short_macros(int number);
/// Emits spans and events under `#define TRACE_TARGET "own::target"`.
void with_own_target(int n);
/// Calls use_header() of header.h.
void through_header(int n);

/// Emit spans and events without exceptions, without type information, and without both.
void without_exceptions(int n);
void without_type_information(int n);
void without_both(int n);

}  // namespace hygiene
