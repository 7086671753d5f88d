// Each kernel of planted_bugs/bugs.cu fails with a message that names its bug and the source line; without the bug it
// runs without a fault. nvcc -lineinfo wrote the PTX.
#include <cmath>
#include <regex>

#include "cuda_cpu/executor/reference/run_test_support.h"
#include "tests/approval.h"

namespace cuda_cpu { namespace {

using namespace std::chrono_literals;

class PlantedBugs : public testing::Test {
 protected:
  PlantedBugs() {
    device.load(read_testdata("../planted_bugs/bugs"));
    device.options.checks = {true, true, true, true};
    values = device.upload(std::vector<int>(64, 0));
    row = device.upload(std::vector<float>(100, 1.0F));
    result = device.allocate<float>(100);
  }

  // Runs the kernel `name`, an instance of a template: with the bug or without it.
  template <class... A>
  std::string run(std::string const& name, A... arguments) {
    return run_blocks(1, name, arguments...);
  }
  template <class... A>
  std::string run_blocks(unsigned count, std::string const& name, A... arguments) {
    return text_of(device.run(name, {{count}, {64}, 0}, arguments...));
  }
  static void expect_approved(std::string const& name, std::string const& message) {
    tracing::testing::expect_approved("planted_bugs/" + name + ".txt",
                                      std::regex_replace(message, std::regex("0x[0-9a-f]{8,}"), "<pointer>") + "\n");
  }

  TestDevice device;
  int* values = nullptr;
  float* row = nullptr;
  float* result = nullptr;
};

TEST_F(PlantedBugs, AnAccessOnePastTheEndNamesTheAllocation) {
  EXPECT_EQ(run("_Z16one_past_the_endILb0EEvPii", values, 64), "");
  expect_approved("one_past_the_end", run("_Z16one_past_the_endILb1EEvPii", values, 64));
}

TEST_F(PlantedBugs, AMissingBarrierInASoftmaxNamesBothPlaces) {
  EXPECT_EQ(run("_Z7softmaxILb0EEvPKfPfi", row, result, 100), "");
  EXPECT_NEAR(result[99], 0.01, 1e-6);
  expect_approved("softmax_race", run("_Z7softmaxILb1EEvPKfPfi", row, result, 100));
}

TEST_F(PlantedBugs, ReadsOfSharedMemoryThatWasNeverWrittenAreFound) {
  EXPECT_EQ(run("_Z20uninitialized_sharedILb0EEvPi", values), "");
  EXPECT_EQ(values[0], 63);
  expect_approved("uninitialized_shared", run("_Z20uninitialized_sharedILb1EEvPi", values));
}

TEST_F(PlantedBugs, ReadsOfGlobalMemoryThatWasNeverWrittenAreFound) {
  auto const address = device.memory.allocate(64, false, "allocated in load{layer=3}");
  device.memory.track_writes(address);
  expect_approved("uninitialized_global", run("_Z20uninitialized_globalPi", address));
  device.memory.mark_written(address, 4);
  *reinterpret_cast<int*>(address) = 5;
  EXPECT_EQ(run("_Z20uninitialized_globalPi", address), "");
  EXPECT_EQ(*reinterpret_cast<int*>(address), 5 + 64);
}

TEST_F(PlantedBugs, WarpsAtDifferentBarriersAreFound) {
  EXPECT_EQ(run("_Z17divergent_barrierILb0EEvPi", values), "");
  expect_approved("divergent_barrier", run("_Z17divergent_barrierILb1EEvPi", values));
}

TEST_F(PlantedBugs, AnEndlessLoopEndsWithThePlaceOfEachWarp) {
  EXPECT_EQ(run("_Z12endless_loopILb0EEvPVi", values), "");
  values[0] = 0;
  device.options.timeout = 50ms;
  expect_approved("endless_loop", run("_Z12endless_loopILb1EEvPVi", values));
}

TEST_F(PlantedBugs, AShuffleFromALaneThatTakesNoPartIsFound) {
  EXPECT_EQ(run("_Z10stale_laneILb0EEvPi", values), "");
  expect_approved("stale_lane", run("_Z10stale_laneILb1EEvPi", values));
}

TEST_F(PlantedBugs, AHistogramWithoutAtomicOperationsIsFound) {
  std::vector<int> bins(256);
  for (int i = 0; i < 256; ++i) bins[static_cast<std::size_t>(i)] = i % 64;
  auto* const of_values = device.upload(bins);
  EXPECT_EQ(run_blocks(4, "_Z9histogramILb0EEvPKiPi", of_values, values), "");
  EXPECT_EQ(values[63], 4);
  expect_approved("histogram_race", run_blocks(4, "_Z9histogramILb1EEvPKiPi", of_values, values));
}

TEST_F(PlantedBugs, BlocksThatWriteIntoTheTilesOfOthersAreFound) {
  std::vector<int> all(257);
  for (int i = 0; i < 257; ++i) all[static_cast<std::size_t>(i)] = i;
  auto* const differences = device.allocate<int>(257);
  EXPECT_EQ(run_blocks(4, "_Z17overlapping_tilesILb0EEvPKiPi", device.upload(all), differences), "");
  EXPECT_EQ(differences[64], 0);
  expect_approved("overlapping_tiles",
                  run_blocks(4, "_Z17overlapping_tilesILb1EEvPKiPi", device.upload(all), differences));
}

TEST_F(PlantedBugs, AStencilInPlaceWithoutABarrierIsFound) {
  std::fill_n(values, 64, 1);
  EXPECT_EQ(run("_Z16stencil_in_placeILb0EEvPi", values), "");
  EXPECT_EQ(values[63], 2);
  expect_approved("stencil_race", run("_Z16stencil_in_placeILb1EEvPi", values));
}

}}  // namespace cuda_cpu
