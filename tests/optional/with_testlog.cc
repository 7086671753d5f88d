// The library with testlog: its statements are testlog's.
#include "gated.h"
#include "statements.h"

#include <testlog/testlog.h>

#if TRACING_OPTIONAL != 1
#error "testlog is not used"
#endif

TEST_LOG(Statements, AreShown) {
  shapes::Pool const pool(4);
  shapes::events(1, "name", shapes::Mode::fast);
  EXPECT_EQ(shapes::spans(pool, 3) + shapes::measured({1, 2}), 12);
  shapes::own_types();
  shapes::forward_line("forwarded", 12);
  EXPECT_GT(shapes::evaluated(), 0);
}

// Compiled with GATED_TRACING=0 beside statements that are on.
TEST_LOG(Gated, ShowsNothing) {
  EXPECT_EQ(gated::work(1), 2);
  TRACE_INFO("from the test");
}
