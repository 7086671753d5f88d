// Declares the functions of places.cc: statements in every place where a statement, a declaration or an expression may
// stand.
#pragma once

#include <memory>
#include <string>

namespace hygiene {

int dangling_else(bool first, bool second);
void two_on_a_line(int n);
/// Variables that nothing but tracing uses: no warning, though nothing is left of it.
void only_for_tracing(int n);
/// Whether anybody listens, kept in constants.
bool asks_for_a_constant();
void in_switch(int n);
void in_loops(int n);
void in_lambdas(int n);
void in_templates(int n);
void in_user_macros(int n);
void in_constant_expressions();
void behind_a_goto(int n);
/// Ends by falling out of a function that may not throw.
void in_noexcept_function(int n) noexcept;
void in_try_blocks(int n);

/// What the static initialisers of that file said whether anybody listened: nobody does so early.
bool heard_in_static_initialiser() noexcept;

/// Says "gone" when it is destroyed.
class SaysGoodbye {
 public:
  SaysGoodbye() = default;
  SaysGoodbye(SaysGoodbye const&) = delete;
  SaysGoodbye& operator=(SaysGoodbye const&) = delete;
  ~SaysGoodbye();
};

/// How many arguments were evaluated: one for each statement of each kind, if anybody listens.
int evaluations_of_each_statement();

void argument_kinds();

}  // namespace hygiene
