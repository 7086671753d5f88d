#include "cuda_cpu/executor/device_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace cuda_cpu { namespace {

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
  *reinterpret_cast<int*>(address) = 1;  // AddressSanitizer would report it if the memory were deallocated
  ASSERT_EQ(snapshot->size(), 1u);
  EXPECT_EQ(snapshot->front().begin, address);
  EXPECT_TRUE(memory.snapshot()->empty());
}

TEST(DeviceMemory, NoAllocationIsWithin256BytesAfterAnother) {
  DeviceMemory memory;
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> all;
  for (int round = 0; round < 20; ++round)
    for (std::uint64_t const bytes : {1, 3, 100, 255, 256, 257, 1000, 4096, 70001})
      all.emplace_back(memory.allocate(bytes), bytes);
  for (auto const& [address, bytes] : all) {
    for (std::uint64_t const past : {0, 1, 4, 100, 255}) EXPECT_FALSE(memory.find(address + bytes + past, 1));
    EXPECT_FALSE(memory.find(address - 1, 1));
    EXPECT_FALSE(memory.find(address - 256, 1));
  }
}

TEST(DeviceMemory, DescribesAnAddressByTheNearestAllocation) {
  DeviceMemory memory;
  auto const address = memory.allocate(1024, false, "allocated in load{layer=3}");
  EXPECT_EQ(memory.describe(address + 1020, 4), "at byte 1020 of 1024 bytes allocated in load{layer=3} (allocation 1)");
  EXPECT_EQ(memory.describe(address + 1024, 4),
            "reaching 4 bytes past the end of 1024 bytes allocated in load{layer=3} (allocation 1)");
  EXPECT_EQ(memory.describe(address + 1023, 2),
            "reaching 1 byte past the end of 1024 bytes allocated in load{layer=3} (allocation 1)");
  EXPECT_EQ(memory.describe(address - 8, 4), "8 bytes before 1024 bytes allocated in load{layer=3} (allocation 1)");
  EXPECT_EQ(memory.describe(address + 1280 - 4, 8),
            "reaching 260 bytes past the end of 1024 bytes allocated in load{layer=3} (allocation 1)");
  EXPECT_EQ(memory.describe(address + (std::uint64_t{1} << 62), 4), "");  // no process has memory there
  EXPECT_EQ(memory.describe(8192, 4), "");
  EXPECT_EQ(memory.describe(16, 4), "a null pointer");
  EXPECT_EQ(memory.describe(~std::uintptr_t{7}, 8), "");
}

TEST(DeviceMemory, DescribesMemoryOfTheHost) {
  DeviceMemory memory;
  static std::array<std::byte, 65536> bytes;
  auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  EXPECT_EQ(memory.describe(begin, 4), "in memory of the host, far from any of the device");
  memory.map_host(&bytes[32768], 64);
  EXPECT_EQ(memory.describe(begin, 4), "in memory of the host, or 32768 bytes before 64 bytes of host memory");
  EXPECT_EQ(memory.describe(begin + 32764, 4), "4 bytes before 64 bytes of host memory");
  EXPECT_EQ(memory.describe(begin + 32832, 4), "reaching 4 bytes past the end of 64 bytes of host memory");
  EXPECT_EQ(memory.describe(begin + 60000, 4),
            "in memory of the host, or reaching 27172 bytes past the end of 64 bytes of host memory");
}

TEST(DeviceMemory, TracksWhichBytesWereWritten) {
  DeviceMemory memory;
  auto const address = memory.allocate(300);
  EXPECT_EQ(memory.find(address, 300)->written, nullptr);
  memory.track_writes(address);
  auto const written = memory.find(address, 300)->written;
  ASSERT_NE(written, nullptr);
  EXPECT_FALSE(written->any(address, 300));
  memory.mark_written(address + 60, 140);
  EXPECT_FALSE(written->any(address, 60));
  EXPECT_TRUE(written->any(address + 59, 2));
  EXPECT_TRUE(written->any(address + 199, 8));
  EXPECT_FALSE(written->any(address + 200, 100));
  memory.mark_written(address + 299, 1);
  EXPECT_TRUE(written->any(address + 296, 4));
}

TEST(DeviceMemory, CopiesWhichBytesWereWritten) {
  DeviceMemory memory;
  auto const place = [](std::uintptr_t address) { return reinterpret_cast<void const*>(address); };
  for (std::uint64_t const from_offset : {0, 1, 63, 64, 70}) {
    for (std::uint64_t const to_offset : {0, 5, 64, 127}) {
      for (std::uint64_t const bytes : {1, 59, 64, 130}) {
        auto const from_memory = memory.allocate(200);
        auto const to_memory = memory.allocate(257);
        memory.track_writes(from_memory);
        memory.track_writes(to_memory);
        for (std::uint64_t i = 0; i < 200; i += 3) memory.mark_written(from_memory + i, 1);
        for (std::uint64_t i = 0; i < 257; i += 2) memory.mark_written(to_memory + i, 1);
        auto const from = memory.find(from_memory, 1)->written;
        auto const to = memory.find(to_memory, 1)->written;
        WrittenBytes::copy(to.get(), place(to_memory + to_offset), from.get(), place(from_memory + from_offset), bytes);
        for (std::uint64_t i = 0; i < 257; ++i) {
          bool const was_copied = i >= to_offset && i < to_offset + bytes;
          EXPECT_EQ(to->any(to_memory + i, 1), was_copied ? (i - to_offset + from_offset) % 3 == 0 : i % 2 == 0)
              << from_offset << " to " << to_offset << ", " << bytes << " bytes: " << i;
        }
        memory.free(from_memory);
        memory.free(to_memory);
      }
    }
  }
  // A copy of bytes that overlap, and a copy from memory that is not tracked.
  auto const address = memory.allocate(100);
  memory.track_writes(address);
  memory.mark_written(address, 10);
  auto const written = memory.find(address, 1)->written;
  WrittenBytes::copy(written.get(), place(address + 5), written.get(), place(address), 20);
  EXPECT_TRUE(written->any(address + 14, 1));
  EXPECT_FALSE(written->any(address + 15, 85));
  WrittenBytes::copy(written.get(), place(address + 50), nullptr, place(address), 50);
  EXPECT_FALSE(written->any(address + 15, 35));
  EXPECT_TRUE(written->any(address + 99, 1));
  WrittenBytes::copy(nullptr, place(address), written.get(), place(address), 50);
}

TEST(DeviceMemory, DescribesMemoryThatWasFreed) {
  DeviceMemory memory;
  auto const first = memory.allocate(64, false, "allocated in load");
  auto const second = memory.allocate(64);
  memory.free(first, "freed in unload");
  memory.free(second);
  EXPECT_EQ(memory.describe(first + 60, 4), "in 64 bytes allocated in load (allocation 1) that were freed in unload");
  EXPECT_EQ(memory.describe(second, 4), "in 64 bytes (allocation 2) that were freed");
}

// Large memory is given back at once, so a later allocation may begin at the same address.
TEST(DeviceMemory, DescribesTheAllocationThatUsesFreedMemoryAgain) {
  DeviceMemory memory;
  auto const address = memory.allocate(8 << 20);
  memory.free(address, "freed in unload");
  memory.map_host(reinterpret_cast<void*>(address + 4096), 64);
  EXPECT_EQ(memory.describe(address + 4100, 4), "at byte 4 of 64 bytes of host memory");
  EXPECT_EQ(memory.describe(address + 4096 + 64, 4), "in 8388608 bytes (allocation 1) that were freed in unload");
}

TEST(DeviceMemory, DoesNotAllocateFreedMemoryAgainAtOnce) {
  DeviceMemory memory;
  for (std::uint64_t const bytes : {64, 1 << 20, 4 << 20}) {
    auto const address = memory.allocate(bytes);
    memory.free(address);
    for (int i = 0; i < 20; ++i) memory.allocate(bytes);
    EXPECT_FALSE(memory.find(address, 1)) << bytes;
  }
}

TEST(DeviceMemory, RemembersABoundedNumberOfFrees) {
  DeviceMemory memory;
  auto const first = memory.allocate(64);
  memory.free(first);
  for (int i = 0; i < 255; ++i) memory.free(memory.allocate(64));
  EXPECT_EQ(memory.describe(first, 4), "in 64 bytes (allocation 1) that were freed");
  memory.free(memory.allocate(64));
  EXPECT_EQ(memory.describe(first, 4).find("(allocation 1)"), std::string::npos);
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

}}  // namespace cuda_cpu
