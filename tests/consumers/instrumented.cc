// An instrumented program without a subscriber.
#include <tracing_core/tracing.h>

int main() {
  int const answer = 42;
  TRACE_SPAN(debug, "consume", answer);
  TRACE_INFO("consumed {}", answer);
  return 0;
}
