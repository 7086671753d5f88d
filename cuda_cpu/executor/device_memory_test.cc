#include "cuda_cpu/executor/device_memory.h"

#include <gtest/gtest.h>

#include <array>

namespace cuda_cpu {
namespace {

TEST(DeviceMemory, FindsOnlyRangesWithinOneAllocation) {
  DeviceMemory memory;
  auto const address = memory.allocate(100);
  ASSERT_NE(address, 0u);
  EXPECT_EQ(address % DeviceMemory::kAlignment, 0u);
  EXPECT_TRUE(memory.find(address, 100));
  EXPECT_TRUE(memory.find(address + 99, 1));
  EXPECT_FALSE(memory.find(address + 99, 2));
  EXPECT_FALSE(memory.find(address + 100, 1));
  EXPECT_FALSE(memory.find(address - 1, 1));
  EXPECT_FALSE(memory.find(address, ~std::uint64_t{0}));
  EXPECT_FALSE(memory.find(0, 1));
}

TEST(DeviceMemory, FreesEachAllocationOnce) {
  DeviceMemory memory;
  auto const address = memory.allocate(16);
  EXPECT_FALSE(memory.free(address + 1));
  EXPECT_TRUE(memory.free(address));
  EXPECT_FALSE(memory.free(address));
  EXPECT_FALSE(memory.find(address, 1));
}

TEST(DeviceMemory, FailsToAllocateBeyondItsCapacity) {
  DeviceMemory memory(1000);
  auto const address = memory.allocate(600);
  EXPECT_EQ(memory.allocate(401), 0u);
  EXPECT_EQ(memory.allocate(0), 0u);
  EXPECT_EQ(memory.used_bytes(), 600u);
  EXPECT_TRUE(memory.free(address));
  EXPECT_NE(memory.allocate(1000), 0u);
}

TEST(DeviceMemory, KeepsFreedMemoryWhileASnapshotExists) {
  DeviceMemory memory;
  auto const address = memory.allocate(sizeof(int));
  auto const snapshot = memory.snapshot();
  memory.free(address);
  *reinterpret_cast<int*>(address) = 1;  // a fault under AddressSanitizer if it were deallocated
  ASSERT_EQ(snapshot->size(), 1u);
  EXPECT_EQ(snapshot->front().begin, address);
  EXPECT_TRUE(memory.snapshot()->empty());
}

TEST(DeviceMemory, FindsMappedHostMemoryUntilItIsUnmapped) {
  DeviceMemory memory;
  std::array<char, 64> host{};
  auto const address = reinterpret_cast<std::uintptr_t>(host.data());
  memory.map_host(host.data(), 32);
  EXPECT_TRUE(memory.find(address + 31, 1));
  EXPECT_FALSE(memory.find(address + 31, 2));
  EXPECT_FALSE(memory.free(address));
  EXPECT_EQ(memory.used_bytes(), 0u);
  memory.unmap_host(host.data());
  EXPECT_FALSE(memory.find(address, 1));
}

TEST(DeviceMemory, RefusesSizesBeyondTheAddressSpace) {
  DeviceMemory memory(~std::uint64_t{0});
  EXPECT_EQ(memory.allocate(~std::uint64_t{0} - 100), 0u);
}

}  // namespace
}  // namespace cuda_cpu
