// The memory of the runtime, on a fake driver that counts allocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cuda_tests/runtime/memory_manager.h"
#include "tests/support/recording_subscriber.h"

namespace cuda_tests { namespace {

std::size_t allocated = 0;
std::size_t freed = 0;
bool exhausted = false;

tracing::cuda::DriverApi counting() {
  allocated = freed = 0;
  exhausted = false;
  tracing::cuda::DriverApi api;
  api.mem_alloc = [](CUdeviceptr* pointer, std::size_t) {
    if (exhausted) return CUDA_ERROR_OUT_OF_MEMORY;
    *pointer = ++allocated << 32;
    return CUDA_SUCCESS;
  };
  api.mem_free = [](CUdeviceptr) {
    ++freed;
    return CUDA_SUCCESS;
  };
  api.ctx_synchronize = [] { return CUDA_SUCCESS; };
  api.get_error_name = [](CUresult, char const**) { return CUDA_ERROR_INVALID_VALUE; };
  api.get_error_string = api.get_error_name;
  return api;
}

class Memory : public ::testing::Test {
 protected:
  SliceHandle reserve(std::size_t size) {
    SliceHandle slice;
    EXPECT_EQ(manager_.reserve(size, slice), CUDA_SUCCESS);
    return slice;
  }

  tracing::cuda::Driver driver_{counting()};
  GpuStorage storage_{driver_};
  MemoryManager manager_{storage_};
};

TEST_F(Memory, SmallAllocationsShareAPage) {
  auto const first = reserve(100);
  auto const second = reserve(1000);
  EXPECT_EQ(allocated, 1u);
  EXPECT_EQ(second->address, first->address + 256);
  EXPECT_EQ(second->bytes, 1024u);
}

TEST_F(Memory, ReusesReleasedMemory) {
  CUdeviceptr const address = reserve(100)->address;
  EXPECT_EQ(reserve(200)->address, address);
  EXPECT_EQ(allocated, 1u);
}

TEST_F(Memory, MergesNeighbouringGaps) {
  auto first = reserve(256);
  auto second = reserve(256);
  auto const third = reserve(256);
  CUdeviceptr const address = first->address;
  first.reset();
  second.reset();
  EXPECT_EQ(reserve(512)->address, address);
}

TEST_F(Memory, AllocatesAnotherPageIfOneIsFull) {
  auto const first = reserve(MemoryManager::kPageBytes);
  auto const more = reserve(1);
  EXPECT_EQ(allocated, 2u);
}

TEST_F(Memory, WarnsOnceIfThePoolIsAtCapacity) {
  auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
  std::vector<SliceHandle> pages;
  auto const warnings = [&] {
    pages.push_back(reserve(MemoryManager::kPageBytes));
    auto const lines = subscriber->take();
    return std::ranges::count_if(lines, [](std::string const& line) {
      return line.starts_with("event WARN cuda_tests::memory_management::memory_pool::sliced_pool") &&
             line.find("memory pool at capacity: 64 pages of 1048576 B") != line.npos;
    });
  };
  tracing::with_default(subscriber, [&] {
    for (int page = 1; page <= 64; ++page) EXPECT_EQ(warnings(), 0) << page;
    EXPECT_EQ(warnings(), 1);
    EXPECT_EQ(warnings(), 0);
  });
  EXPECT_EQ(allocated, 66u) << "allocations beyond the capacity succeed";
}

TEST_F(Memory, ReusesThePageOfALargeAllocation) {
  auto large = reserve(MemoryManager::kPageBytes * 4);
  auto const other = reserve(MemoryManager::kPageBytes * 4);
  EXPECT_EQ(allocated, 2u);
  large.reset();
  auto const again = reserve(MemoryManager::kPageBytes * 3);
  EXPECT_EQ(allocated, 2u);
}

TEST_F(Memory, CleanupFreesUnusedPages) {
  auto small = reserve(100);
  auto large = reserve(MemoryManager::kPageBytes * 4);
  manager_.cleanup(true);
  EXPECT_EQ(freed, 0u);
  large.reset();
  manager_.cleanup(true);
  EXPECT_EQ(freed, 1u);
  small.reset();
  manager_.cleanup(true);
  EXPECT_EQ(freed, 2u);
  EXPECT_EQ(storage_.allocations(), 0u);
}

TEST_F(Memory, FreesAPageThatHasNotBeenUsedForAWhile) {
  auto first = reserve(MemoryManager::kPageBytes);
  reserve(1);  // in a second page
  EXPECT_EQ(allocated, 2u);
  first.reset();
  for (int i = 0; i < 100; ++i) reserve(1);  // in the first page
  EXPECT_EQ(freed, 0u);
  auto const large = reserve(MemoryManager::kPageBytes * 4);  // calls the driver
  EXPECT_EQ(freed, 1u);
}

TEST_F(Memory, ReturnsTheErrorOfTheDriver) {
  exhausted = true;
  SliceHandle slice;
  EXPECT_EQ(manager_.reserve(100, slice), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(slice, nullptr);
}

}}  // namespace cuda_tests
