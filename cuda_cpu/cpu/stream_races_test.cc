#include "cuda_cpu/cpu/stream_races.h"

#include <gtest/gtest.h>

#include <string>

namespace cuda_cpu::cpu { namespace {

class StreamRacesTest : public testing::Test {
 protected:
  std::string add(WorkOrder const& order, std::vector<AccessedRange> const& ranges) {
    std::string const name = "work " + std::to_string(order.stream) + "." + std::to_string(order.number);
    return races
        .add(order, name, ranges,
             [](std::uintptr_t address, std::uint64_t bytes) {
               return std::to_string(bytes) + " bytes at " + std::to_string(address);
             })
        .value_or("");
  }

  StreamRaces races;
};

constexpr AccessedRange kWrite{100, 200, true, false}, kRead{100, 200, false, false};

TEST_F(StreamRacesTest, WorkOfTwoStreamsWithoutAnOrderIsFound) {
  EXPECT_EQ(add({1, 1, {{1, 1}}}, {kWrite}), "");
  EXPECT_EQ(add({2, 1, {{2, 1}}}, {{150, 300, false, false}}), "50 bytes at 150, which work 1.1 wrote");
  EXPECT_EQ(add({3, 1, {{1, 1}, {3, 1}}}, {kWrite}), "50 bytes at 150, which work 2.1 read");
}

TEST_F(StreamRacesTest, WhatIsOrderedOrApartOrOnlyReadIsNot) {
  EXPECT_EQ(add({1, 1, {{1, 1}}}, {kWrite}), "");
  EXPECT_EQ(add({1, 2, {{1, 2}}}, {kWrite}), "") << "one stream";
  EXPECT_EQ(add({2, 1, {{1, 2}, {2, 1}}}, {kRead}), "") << "an event";
  EXPECT_EQ(add({3, 1, {{1, 2}, {3, 1}}}, {kRead}), "") << "two readers";
  EXPECT_EQ(add({4, 1, {{4, 1}}}, {{0, 100, true, false}, {200, 300, true, false}}), "") << "other bytes";
}

TEST_F(StreamRacesTest, AtomicAccessesOfBothDoNotRace) {
  EXPECT_EQ(add({1, 1, {{1, 1}}}, {{100, 104, true, true}}), "");
  EXPECT_EQ(add({2, 1, {{2, 1}}}, {{100, 104, true, true}}), "");
  EXPECT_NE(add({3, 1, {{3, 1}}}, {{100, 104, false, false}}), "");
}

TEST_F(StreamRacesTest, NewMemoryHasNoHistory) {
  EXPECT_EQ(add({1, 1, {{1, 1}}}, {kWrite}), "");
  races.forget(100, 100);
  EXPECT_EQ(add({2, 1, {{2, 1}}}, {kWrite}), "");
}

}}  // namespace cuda_cpu::cpu
