// The functions of places.cc: macros in every place that a statement, a declaration or an expression can have.
#pragma once

#include <memory>
#include <string>

namespace hygiene {

int dangling_else(bool first, bool second);
void two_on_a_line(int n);
/// Has variables that only tracing uses: no warning even if tracing is compiled out.
void only_for_tracing(int n);
/// Uses TRACE_ENABLED in initialisers of constants.
bool enabled_as_constant();
void in_switch(int n);
void in_loops(int n);
void in_lambdas(int n);
void in_templates(int n);
void in_user_macros(int n);
void in_constant_expressions();
void after_a_label(int n);
void in_noexcept_function(int n) noexcept;
void in_try_blocks(int n);

/// Returns the result of TRACE_ENABLED in a static initialiser: false, as no subscriber exists yet.
bool enabled_in_static_initialiser() noexcept;

/// Emits an event when it is destroyed.
class EmitsGoodbye {
 public:
  EmitsGoodbye() = default;
  EmitsGoodbye(EmitsGoodbye const&) = delete;
  EmitsGoodbye& operator=(EmitsGoodbye const&) = delete;
  ~EmitsGoodbye();
};

/// Returns the number of evaluated arguments: one for each kind of statement, if enabled.
int evaluations_of_each_statement();

void argument_kinds();

}  // namespace hygiene
