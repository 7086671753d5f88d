// Instrumented code in a header: an inline function, a template and a class.
#pragma once

#include "tracing_core/tracing.h"

namespace hygiene {

inline void in_inline_function(int n) {
  TRACE_FN(info, n);
  TRACE_INFO("inline", n);
}

template <class T>
void in_template(T const& x) {
  TRACE_SPAN(info, "template", x);
  TRACE_INFO("{}", x);
}

class InClass {
 public:
  explicit InClass(int n) : n_(n) { TRACE_INFO("made", n_); }
  InClass(InClass const&) = delete;
  InClass& operator=(InClass const&) = delete;
  ~InClass() { TRACE_INFO("gone", n_); }
  void work() const { TRACE_FN(debug, n_, tracing::kv("address", static_cast<void const*>(nullptr))); }

 private:
  int n_;
};

inline void use_header(int n) {
  in_inline_function(n);
  in_template(n);
  in_template("text");
  InClass(n).work();
}

}  // namespace hygiene
