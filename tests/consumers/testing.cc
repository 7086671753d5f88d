// A GoogleTest program whose tests CTest discovers.
#include <gtest/gtest.h>

#include <tracing_core/model/level.h>

TEST(Consumer, SeesTheLevels) { EXPECT_EQ(tracing::name(tracing::LevelFilter::off), "off"); }
