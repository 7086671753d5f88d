// Declares what the translation units of this folder do; each is compiled in its own way, with every warning an error.
#pragma once

namespace hygiene {

/// Says one event and one span, where hostile names are macros.
void hostile_names_before(int n);
void hostile_names_after(int n);
/// The same where the user's variables are called as our helpers are.
void names_of_helpers();
/// The same without the short macros.
void without_short_macros(int n);
/// The same under `#define TRACE_TARGET "own::target"`.
void with_own_target(int n);
/// The same through inline functions and templates of a header that two units include.
void through_header_once(int n);
void through_header_twice(int n);

/// Statements where no exceptions, no type information, neither of them are.
void without_exceptions(int n);
void without_type_information(int n);
void without_both(int n);

}  // namespace hygiene
