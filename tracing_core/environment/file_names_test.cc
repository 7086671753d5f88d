#include "tracing_core/environment/file_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace tracing::environment { namespace {

TEST(FileNames, HaveTheProcessAndTheTest) {
  EXPECT_EQ(filled_in("/tmp/%t.%p.log", "Suite.Name"), "/tmp/Suite.Name." + std::to_string(getpid()) + ".log");
  EXPECT_EQ(filled_in("100%.log", "Suite.Name"), "100%.log");
}

TEST(FileNames, DifferBetweenTests) {
  EXPECT_NE(filled_in("%t.log", "Suite/0.Name"), filled_in("%t.log", "Suite_0.Name"));
}

}}  // namespace tracing::environment
