// expect: an argument has a type that cannot be recorded
// expect: ("made", value_)
// note g++: [with T = lib::Thing]
// note clang++: 'lib::Thing'
// errors: 1
#include "tracing_core/tracing.h"
template <class T>
struct Box {
  void made() { TRACE_INFO("made", value_); }
  T value_;
};
namespace lib {
struct Thing {};
}  // namespace lib
void f(Box<int>& good, Box<lib::Thing>& bad) {
  good.made();
  bad.made();
}
