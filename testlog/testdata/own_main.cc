// A program with its own main() whose source does not mention testlog. All tests pass unless SCENARIO_FAILS is set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>

#include "testlog/testdata/library.h"

TEST(OwnMain, Works) { library::work(); }
TEST(OwnMain, WorksAgain) {
  library::work(5);
  EXPECT_EQ(std::getenv("SCENARIO_FAILS"), nullptr);
}

int main(int argc, char** argv) {
  TRACE_INFO("main begins");
  testing::InitGoogleTest(&argc, argv);
  try {
    return RUN_ALL_TESTS();
  } catch (std::exception const&) {  // of --gtest_throw_on_failure
    return 7;
  }
}
