#include "scale.h"

#include <testlog/testlog.h>
#include <tracing_core/tracing.h>

#include <vector>

TEST_LOG(Scale, DoublesFullBlocks) {
  std::vector<float> values(64, 21.0f);
  scale(values.data(), 64, 2.0f);
  EXPECT_EQ(values, std::vector<float>(64, 42.0f));
}

TEST_LOG(Scale, DoublesAPartOfABlock) {
  TRACE_SPAN(info, "request", tracing::kv("id", 7));
  std::vector<float> values(100, 21.0f);
  scale(values.data(), 100, 2.0f);
  EXPECT_EQ(values, std::vector<float>(100, 42.0f));
}
