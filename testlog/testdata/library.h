// A library with a few spans and events at every level, for the scenarios.
#pragma once

#include <chrono>
#include <stdexcept>
#include <thread>

#include <tracing_core/tracing.h>

namespace library {

inline void speak() {
  TRACE_ERROR("spoken");
  TRACE_WARN("spoken");
  TRACE_INFO("spoken");
  TRACE_DEBUG("spoken");
  TRACE_TRACE("spoken");
}

// launch{count=..}:compile{kernel=".."} with an event at every level inside.
inline void work(int count = 4) {
  TRACE_SPAN(info, "launch", count);
  char const* const kernel = "double";
  TRACE_SPAN(debug, "compile", kernel);
  speak();
}

inline void fail_inside(int count) {
  TRACE_SPAN(info, "launch", count);
  TRACE_SPAN(info, "check");
  throw std::runtime_error("no such kernel");
}

inline void wait_ms(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

}  // namespace library
