#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_support.h"
#include "cuda_cpu/cpu/unlisted_calls.h"

namespace cuda_cpu { namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMebibyte = 1 << 20;

TEST_F(CpuDriver, CopiesInAndOut) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 1);
  auto const bytes = values.size() * sizeof(int);
  auto const first = allocate(bytes);
  auto const second = allocate(bytes);
  EXPECT_EQ(api.memcpy_htod(first, values.data(), bytes), CUDA_SUCCESS);
  EXPECT_EQ(api.memcpy_dtod(second, first, bytes), CUDA_SUCCESS);
  std::vector<int> back(values.size());
  EXPECT_EQ(api.memcpy_dtoh(back.data(), second, bytes), CUDA_SUCCESS);
  EXPECT_EQ(back, values);
}

TEST_F(CpuDriver, AllocationOfZeroBytesFails) {
  CUdeviceptr address = 1;
  EXPECT_EQ(api.mem_alloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.mem_alloc(nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(address, 1u) << "unchanged by an error";
}

TEST_F(CpuDriver, RunsOutOfMemoryAtItsCapacity) {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(api.mem_get_info(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(total, 1024 * kMebibyte);
  EXPECT_EQ(free, total);
  auto const address = allocate(kMebibyte);
  EXPECT_EQ(api.mem_get_info(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(free, total - kMebibyte);
  CUdeviceptr other = 0;
  EXPECT_EQ(api.mem_alloc(&other, total), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cpu_driver_last_message(),
            "1073741824 bytes requested, 1072693248 bytes free of the 1073741824 that TRACE_CUDA_MEMORY sets");
  EXPECT_EQ(api.mem_alloc_async(&other, total, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(api.mem_alloc(&other, std::numeric_limits<std::size_t>::max()), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(api.mem_free(address), CUDA_SUCCESS);
  EXPECT_EQ(cpu_driver_last_message(), "") << "of the latest call only";
}

TEST_F(CpuDriver, KnowsTheAllocationOfAnAddress) {
  auto const address = allocate(100);
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(api.mem_get_address_range(&begin, &bytes, address + 99), CUDA_SUCCESS);
  EXPECT_EQ(begin, address);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(api.mem_get_address_range(nullptr, nullptr, address), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_get_address_range(&begin, &bytes, address + 100), CUDA_ERROR_NOT_FOUND);
  void* host = nullptr;
  ASSERT_EQ(api.mem_host_alloc(&host, 64, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_get_address_range(&begin, &bytes, reinterpret_cast<CUdeviceptr>(host)), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(api.mem_free_host(host), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_free(address), CUDA_SUCCESS);
}

TEST_F(CpuDriver, FreesEachAllocationOnce) {
  auto const address = allocate(100);
  EXPECT_EQ(api.mem_free(address + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(cpu_driver_last_message(), HasSubstr(": at byte 4 of "));
  EXPECT_EQ(api.mem_free_async(address, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(cpu_driver_last_message(), HasSubstr(" was not made in stream order"));
  EXPECT_EQ(api.mem_free(address), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_free(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(cpu_driver_last_message(), HasSubstr(" that were freed"));
  EXPECT_EQ(api.mem_free(0), CUDA_SUCCESS);
}

TEST_F(CpuDriver, CopiesOnlyWithinAnAllocation) {
  auto const address = allocate(16);
  std::array<char, 32> host{};
  EXPECT_EQ(api.memcpy_htod(address, host.data(), 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(cpu_driver_last_message(), HasSubstr("the target, 17 bytes at 0x"));
  EXPECT_EQ(api.memcpy_dtoh(host.data(), address + 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memcpy_dtod(address + 8, address, 9), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memcpy_htod_async(address, host.data(), 17, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memcpy_dtoh_async(host.data(), address, 17, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memcpy_dtod_async(address, address + 8, 9, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memset_d8(address, 0, 17), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memset_d32(address, 0, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memset_d32(address, 0, std::numeric_limits<std::size_t>::max() / 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memcpy_htod(address, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memcpy_htod(12345, host.data(), 0), CUDA_SUCCESS) << "an empty copy always succeeds";
  EXPECT_EQ(api.memcpy_htod_async(address, host.data(), 1, reinterpret_cast<CUstream>(0x1234)),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CpuDriver, SetsBytesAndWords) {
  auto const address = allocate(8);
  EXPECT_EQ(api.memset_d32(address, 0x01020304, 2), CUDA_SUCCESS);
  EXPECT_EQ(api.memset_d8(address + 4, 0xff, 4), CUDA_SUCCESS);
  EXPECT_EQ(read(address), 0x01020304);
  EXPECT_EQ(read(address + 4), -1);
  EXPECT_EQ(api.memset_d32(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "the target is not aligned");
}

TEST_F(CpuDriver, SetsRowsOfElements) {
  auto const address = allocate(32);
  EXPECT_EQ(api.memset_d8(address, 0, 32), CUDA_SUCCESS);
  EXPECT_EQ(api.memset_d2d8_async(address, 16, 0x11, 3, 2, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.memset_d2d16_async(address + 4, 16, 0x2233, 1, 2, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.memset_d2d32_async(address + 8, 16, 0x44556677, 2, 2, nullptr), CUDA_SUCCESS);
  for (auto const row : {address, address + 16}) {
    EXPECT_EQ(read(row), 0x00111111);
    EXPECT_EQ(read(row + 4), 0x2233);
    EXPECT_EQ(read(row + 8), 0x44556677);
    EXPECT_EQ(read(row + 12), 0x44556677);
  }
  EXPECT_EQ(api.memset_d2d8_async(address, 17, 0, 16, 2, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(cpu_driver_last_message(), HasSubstr("the target, 33 bytes at 0x"));
  EXPECT_EQ(api.memset_d2d8_async(address, 4, 0, 5, 2, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "the pitch of the target is 4; a row has 5 bytes");
  EXPECT_EQ(api.memset_d2d16_async(address + 1, 16, 0, 1, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memset_d2d32_async(address, 6, 0, 1, 2, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cpu_driver_last_message(), "the target is not aligned");
  EXPECT_EQ(api.memset_d2d8_async(12345, 4, 0, 0, 2, nullptr), CUDA_SUCCESS) << "nothing is set";
}

TEST_F(CpuDriver, ReadsPageableMemoryBeforeAnAsynchronousCopyReturns) {
  auto const stream = make_stream();
  auto const address = allocate(sizeof(int));
  HeldUp held(api, stream);
  int value = 1;
  EXPECT_EQ(api.memcpy_htod_async(address, &value, sizeof(value), stream), CUDA_SUCCESS);
  value = 2;
  held.release();
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(read(address), 1);
}

TEST_F(CpuDriver, ReadsPinnedMemoryWhenTheStreamReachesTheCopy) {
  auto const stream = make_stream();
  auto const address = allocate(sizeof(int));
  auto* const value = allocate_pinned<int>();
  HeldUp held(api, stream);
  *value = 1;
  EXPECT_EQ(api.memcpy_htod_async(address, value, sizeof(*value), stream), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_ERROR_NOT_READY) << "the copy waits, the call does not";
  *value = 2;
  held.release();
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(read(address), 2);
}

TEST_F(CpuDriver, WritesPageableMemoryBeforeACopyReturnsAndPinnedMemoryLater) {
  auto const stream = make_stream();
  auto const address = allocate(sizeof(int));
  write(address, 7);
  auto* const pinned = allocate_pinned<int>();
  *pinned = 0;
  int pageable = 0;
  HeldUp held(api, stream);
  EXPECT_EQ(api.memcpy_dtoh_async(pinned, address, sizeof(int), stream), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(*pinned, 0);
  held.release_after(std::chrono::milliseconds(20));
  EXPECT_EQ(api.memcpy_dtoh_async(&pageable, address, sizeof(int), stream), CUDA_SUCCESS);
  EXPECT_EQ(pageable, 7);
  EXPECT_EQ(*pinned, 7);
}

TEST_F(CpuDriver, FreesMemoryInStreamOrder) {
  auto const stream = make_stream();
  CUdeviceptr address = 0;
  EXPECT_EQ(api.mem_alloc_async(&address, 600 * kMebibyte, stream), CUDA_SUCCESS);
  HeldUp held(api, stream);
  EXPECT_EQ(api.memset_d8_async(address, 1, 100, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_free_async(address, stream), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_free_async(address, stream), CUDA_ERROR_INVALID_VALUE) << "freed already";
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(api.mem_get_info(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(free, 424 * kMebibyte) << "the stream has not reached the free";
  held.release_after(std::chrono::milliseconds(20));
  EXPECT_EQ(api.mem_alloc_async(&address, 600 * kMebibyte, stream), CUDA_SUCCESS) << "waits for the pending free";
  EXPECT_EQ(api.mem_free(address), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_free_async(allocate(4), stream), CUDA_ERROR_INVALID_VALUE) << "not stream-ordered";
}

TEST_F(CpuDriver, AllocationsOfSeveralThreadsWaitForPendingFrees) {
  auto const stream = make_stream();
  CUdeviceptr address = 0;
  EXPECT_EQ(api.mem_alloc_async(&address, 900 * kMebibyte, stream), CUDA_SUCCESS);
  HeldUp held(api, stream);
  EXPECT_EQ(api.mem_free_async(address, stream), CUDA_SUCCESS);
  held.release_after(std::chrono::milliseconds(50));
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([this] {
      EXPECT_EQ(api.ctx_set_current(context), CUDA_SUCCESS);
      EXPECT_EQ(api.mem_free(allocate(300 * kMebibyte)), CUDA_SUCCESS);
    });
  }
}

TEST_F(CpuDriver, CopiesWithinPinnedMemoryMayOverlap) {
  auto* const values = allocate_pinned<int>(1000);
  std::iota(values, values + 1000, 0);
  CUdeviceptr address = 0;
  EXPECT_EQ(api.mem_host_get_device_pointer(&address, values, 0), CUDA_SUCCESS);
  EXPECT_EQ(api.memcpy_htod(address + sizeof(int), values, 999 * sizeof(int)), CUDA_SUCCESS);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[999], 998);
}

TEST_F(CpuDriver, WaitsForTheDeviceBeforeItFrees) {
  auto const stream = make_stream(CU_STREAM_NON_BLOCKING);
  auto const address = allocate(4);
  HeldUp held(api, stream);
  EXPECT_EQ(api.memset_d32_async(address, 1, 1, stream), CUDA_SUCCESS);
  held.release_after(std::chrono::milliseconds(20));
  EXPECT_EQ(api.mem_free(address), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_SUCCESS);
}

TEST_F(CpuDriver, TheHeapOfKernelsHasTheSizeThatIsSet) {
  constexpr char kKernel[] =
      ".version 9.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b64 r) malloc(.param .b64 a);\n"
      ".visible .entry k(.param .u64 out) { .reg .b64 %rd<3>; .param .b64 a; .param .b64 r; st.param.b64 [a], "
      "16000000;\n"
      "call (r), malloc, (a); ld.param.b64 %rd1, [r]; ld.param.u64 %rd2, [out]; st.global.u64 [%rd2], %rd1; ret; }\n";
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(api.module_load_data_ex(&module, kKernel, 0, nullptr, nullptr), CUDA_SUCCESS) << cpu_driver_last_message();
  ASSERT_EQ(api.module_get_function(&function, module, "k"), CUDA_SUCCESS) << cpu_driver_last_message();
  auto out = allocate(8);
  auto const allocated = [&] {
    void* parameters[] = {&out, nullptr};
    EXPECT_EQ(api.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
    CUdeviceptr address = 0;
    EXPECT_EQ(api.memcpy_dtoh(&address, out, sizeof address), CUDA_SUCCESS);
    return address;
  };
  EXPECT_EQ(allocated(), 0u) << "8 MiB at first";
  EXPECT_EQ(cpu::set_heap_limit(32 * kMebibyte), CUDA_SUCCESS);
  EXPECT_NE(allocated(), 0u);
  auto const second = allocated();
  EXPECT_NE(second, 0u);
  EXPECT_EQ(api.mem_free(second), CUDA_ERROR_INVALID_VALUE) << "the host does not free it";
  EXPECT_EQ(allocated(), 0u);
  EXPECT_EQ(cpu::set_heap_limit(8 * kMebibyte), CUDA_SUCCESS);
}

TEST_F(CpuDriver, PinnedMemoryHasTheSameAddressOnTheDevice) {
  auto* const values = allocate_pinned<int>(4);
  CUdeviceptr address = 0;
  EXPECT_EQ(api.mem_host_get_device_pointer(&address, values + 1, 0), CUDA_SUCCESS);
  values[1] = 5;
  EXPECT_EQ(read(address), 5);
  int local = 0;
  EXPECT_EQ(api.mem_host_get_device_pointer(&address, &local, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.mem_host_get_device_pointer(&address, values, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.mem_free_host(values), CUDA_SUCCESS);
  EXPECT_EQ(api.mem_free_host(values), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.memcpy_dtoh(&local, address, sizeof(local)), CUDA_ERROR_INVALID_VALUE);
  void* memory = nullptr;
  EXPECT_EQ(api.mem_host_alloc(&memory, 4, 0x100), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api.mem_host_alloc(&memory, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

}}  // namespace cuda_cpu
