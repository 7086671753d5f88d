// What the tests of Catch2 and doctest call.
#pragma once

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "tracing_core/tracing.h"

inline int divide(int dividend, int divisor) {
  TRACE_SPAN(info, "divide", dividend, divisor);
  if (divisor == 0) {
    TRACE_ERROR("division by zero");
    throw std::domain_error("no number divides by zero");
  }
  TRACE_DEBUG("divided", tracing::kv("quotient", dividend / divisor));
  return dividend / divisor;
}

inline bool divides(int dividend, int divisor) {
  try {
    return divide(dividend, divisor) != 0;
  } catch (std::domain_error const&) {
    return false;
  }
}

inline void die() {
  TRACE_SPAN(info, "load");
  TRACE_DEBUG("about to die");
  std::raise(SIGSEGV);
}

inline void hang() {
  TRACE_SPAN(info, "wait", tracing::kv("for", "nobody"));
  std::this_thread::sleep_for(std::chrono::minutes(1));
}
