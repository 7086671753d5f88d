// Runs the tests of a program, which run its benchmarks, since testlog captures while tests run.
#include <benchmark/benchmark.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());  // standard output is for the benchmarks
  return RUN_ALL_TESTS();
}
