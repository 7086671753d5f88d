// Measures a process from start to exit, with one test that emits one record.
#include <gtest/gtest.h>

#ifdef STARTUP_PLAIN
TEST(Startup, EmitsOneRecord) {}
#else
#include "tracing_core/tracing.h"

TEST(Startup, EmitsOneRecord) { TRACE_INFO("moved"); }
#endif
