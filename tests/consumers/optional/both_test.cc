// Includes a header that refuses short names first; the test's own statements use short names.
#include "ring/ring.h"

#include <testlog/testlog.h>
#include <tracing_core/tracing.h>

#include "words.h"

TEST_LOG(Both, AreUsed) {
  TRACE_INFO("the test itself");
  EXPECT_EQ(words::split("a,b", ',').size(), 2u);
  ring::Ring<int, 1> ring;
  EXPECT_TRUE(ring.push(1));
  EXPECT_FALSE(ring.push(2));
}
