// The user has macros whose names are the short names.
#define TRACE_INFO(text) text
#define TRACE_SPAN 1

#include "ring/ring.h"

int main() {
  ring::Ring<int, 1> ring;
  return ring.push(TRACE_SPAN) && !ring.push(2) && TRACE_INFO(true) ? 0 : 1;
}
