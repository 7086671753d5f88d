#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/cpu_test_support.h"

namespace cuda_cpu { namespace {

using std::chrono::milliseconds;

TEST_F(CpuDriver, RunsTheWorkOfAStreamInOrder) {
  auto const stream = make_stream();
  Order order;
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    order.add(api, stream, i);
    expected.push_back(i);
  }
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(order.numbers, expected);
}

TEST_F(CpuDriver, StreamIsReadyOnceItsWorkIsDone) {
  auto const stream = make_stream();
  EXPECT_EQ(api.stream_query(stream), CUDA_SUCCESS) << "it had no work";
  HeldUp held(api, stream);
  EXPECT_EQ(api.stream_query(stream), CUDA_ERROR_NOT_READY);
  held.release();
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_SUCCESS);
}

TEST_F(CpuDriver, StreamsRunConcurrently) {
  auto const first = make_stream();
  auto const second = make_stream();
  HeldUp held(api, first);
  Order order;
  order.add(api, second, 1);
  EXPECT_EQ(api.stream_synchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(order.numbers, std::vector{1});
  EXPECT_EQ(api.stream_query(first), CUDA_ERROR_NOT_READY);
}

TEST_F(CpuDriver, DefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  auto const before = make_stream();
  auto const after = make_stream();
  Order order;
  HeldUp held(api, before);
  order.add(api, before, 1);
  order.add(api, nullptr, 2);
  order.add(api, CU_STREAM_LEGACY, 3);
  order.add(api, after, 4);
  EXPECT_EQ(api.stream_query(after), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(api.stream_query(nullptr), CUDA_ERROR_NOT_READY);
  held.release();
  EXPECT_EQ(api.stream_synchronize(after), CUDA_SUCCESS);
  EXPECT_EQ(order.numbers, (std::vector{1, 2, 3, 4}));
}

TEST_F(CpuDriver, SynchronizingTheDefaultStreamWaitsForBlockingStreams) {
  auto const stream = make_stream();
  HeldUp held(api, stream);
  held.release_after(milliseconds(20));
  EXPECT_EQ(api.stream_synchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_SUCCESS);
}

TEST_F(CpuDriver, SynchronizingABlockingStreamDoesNotWaitForTheDefaultStream) {
  auto const stream = make_stream();
  HeldUp held(api, nullptr);
  EXPECT_EQ(api.stream_query(stream), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(nullptr), CUDA_ERROR_NOT_READY);
}

TEST_F(CpuDriver, NonBlockingStreamAndDefaultStreamDoNotWaitForEachOther) {
  auto const stream = make_stream(CU_STREAM_NON_BLOCKING);
  Order order;
  {
    HeldUp held(api, stream);
    order.add(api, nullptr, 1);
    EXPECT_EQ(api.stream_synchronize(nullptr), CUDA_SUCCESS);
  }
  HeldUp held(api, nullptr);
  order.add(api, stream, 2);
  EXPECT_EQ(api.stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(order.numbers, (std::vector{1, 2}));
}

TEST_F(CpuDriver, SynchronousCopyWaitsForTheDefaultStream) {
  auto const address = allocate(sizeof(int));
  HeldUp held(api, nullptr);
  EXPECT_EQ(api.memset_d32(address, 9, 1), CUDA_SUCCESS) << "does not wait";
  EXPECT_EQ(api.stream_query(nullptr), CUDA_ERROR_NOT_READY);
  held.release_after(milliseconds(20));
  EXPECT_EQ(read(address), 9);
}

TEST_F(CpuDriver, EachThreadHasItsOwnDefaultStream) {
  HeldUp held(api, CU_STREAM_PER_THREAD);
  std::thread([this] {
    EXPECT_EQ(api.ctx_set_current(context), CUDA_SUCCESS);
    Order order;
    order.add(api, CU_STREAM_PER_THREAD, 1);
    EXPECT_EQ(api.stream_synchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    EXPECT_EQ(order.numbers, std::vector{1});
  }).join();
  EXPECT_EQ(api.stream_query(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
}

TEST_F(CpuDriver, ContextWaitsForAllStreams) {
  auto const stream = make_stream(CU_STREAM_NON_BLOCKING);
  HeldUp held(api, stream);
  held.release_after(milliseconds(20));
  EXPECT_EQ(api.ctx_synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_query(stream), CUDA_SUCCESS);
}

TEST_F(CpuDriver, DestroyedStreamFinishesItsWork) {
  auto const stream = make_stream();
  Order order;
  {
    HeldUp held(api, stream);
    order.add(api, stream, 1);
    EXPECT_EQ(api.stream_destroy(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(api.stream_query(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.stream_destroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api.ctx_synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(order.numbers, std::vector{1});
}

TEST_F(CpuDriver, HostFunctionMustNotCallTheDriver) {
  struct Call {
    tracing::cuda::DriverApi const& api;
    CUresult result = CUDA_SUCCESS;
  } call{api};
  auto const synchronise = [](void* data) {
    auto& own = *static_cast<Call*>(data);
    own.result = own.api.ctx_synchronize();
  };
  EXPECT_EQ(api.launch_host_func(nullptr, synchronise, &call), CUDA_SUCCESS);
  EXPECT_EQ(api.stream_synchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(call.result, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(api.launch_host_func(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CpuDriver, StreamsHaveIdsAndAreNotCaptured) {
  auto const stream = make_stream();
  std::set<unsigned long long> ids;
  for (auto const handle : {CUstream(nullptr), stream, make_stream(), CU_STREAM_PER_THREAD}) {
    unsigned long long id = 0;
    EXPECT_EQ(api.stream_get_id(handle, &id), CUDA_SUCCESS);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 4u);
  auto status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(api.stream_is_capturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  CUstream other = nullptr;
  EXPECT_EQ(api.stream_create(&other, 2), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CpuDriver, StreamsOfManyThreadsAreIndependent) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  auto const address = allocate(kThreads * sizeof(int));
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread, address] {
      EXPECT_EQ(api.ctx_set_current(context), CUDA_SUCCESS);
      auto const own = address + static_cast<unsigned>(thread) * sizeof(int);
      for (int round = 0; round < kRounds; ++round) {
        auto const stream = make_stream(round % 2 == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
        EXPECT_EQ(api.memset_d32_async(own, static_cast<unsigned>(round), 1, stream), CUDA_SUCCESS);
        int value = -1;
        EXPECT_EQ(api.memcpy_dtoh_async(&value, own, sizeof(value), stream), CUDA_SUCCESS);
        EXPECT_EQ(value, round);
        EXPECT_EQ(api.stream_destroy(stream), CUDA_SUCCESS);
      }
    });
  }
}

}}  // namespace cuda_cpu
