// A GoogleTest program whose tests ctest sees one by one.
#include <gtest/gtest.h>

#include <tracing_core/model/level.h>

TEST(Consumer, SeesTheLevels) { EXPECT_EQ(tracing::name(tracing::LevelFilter::off), "off"); }
