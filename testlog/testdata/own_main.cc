// A program with its own main() whose source does not mention testlog. All tests pass.
#include <gtest/gtest.h>

#include "testlog/testdata/library.h"

TEST(OwnMain, Works) { library::work(); }
TEST(OwnMain, WorksAgain) { library::work(5); }

int main(int argc, char** argv) {
  TRACE_INFO("main begins");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
