// A program with a main() of its own and nothing of testlog's in its source; all of its tests pass.
#include <gtest/gtest.h>

#include "testlog/testdata/library.h"

TEST(OwnMain, Works) { library::work(); }
TEST(OwnMain, WorksAgain) { library::work(5); }

int main(int argc, char** argv) {
  TRACE_INFO("main begins");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
