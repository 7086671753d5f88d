// Streams and commands of the runtime, on a fake driver that counts.
#include <gtest/gtest.h>

#include <memory>

#include "cuda_tests/runtime/command.h"
#include "cuda_tests/runtime/error.h"

namespace cuda_tests { namespace {

struct Counts {
  int streams = 0;         // number of existing streams
  std::size_t pinned = 0;  // number of pinned buffers
  std::size_t pages = 0;   // number of existing pages of the device
  std::size_t max_pages = 0;
  bool is_busy = false;
  bool has_events = true;
};
Counts counts;

tracing::cuda::DriverApi counting() {
  counts = {};
  tracing::cuda::DriverApi api;
  api.stream_create = [](CUstream* stream, unsigned) {
    *stream = reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(++counts.streams));
    return CUDA_SUCCESS;
  };
  api.stream_destroy = [](CUstream) {
    --counts.streams;
    return CUDA_SUCCESS;
  };
  api.stream_synchronize = [](CUstream) { return CUDA_SUCCESS; };
  api.stream_query = [](CUstream) { return counts.is_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; };
  api.event_create = [](CUevent*, unsigned) { return counts.has_events ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY; };
  api.event_destroy = [](CUevent) { return CUDA_SUCCESS; };
  api.mem_host_alloc = [](void** memory, std::size_t, unsigned) {
    *memory = reinterpret_cast<void*>(++counts.pinned << 20);
    return CUDA_SUCCESS;
  };
  api.mem_free_host = [](void*) { return CUDA_SUCCESS; };
  api.mem_alloc = [](CUdeviceptr* pointer, std::size_t) {
    if (counts.pages >= counts.max_pages) return CUDA_ERROR_OUT_OF_MEMORY;
    *pointer = CUdeviceptr{++counts.pages} << 32;
    return CUDA_SUCCESS;
  };
  api.mem_free = [](CUdeviceptr) {
    --counts.pages;
    return CUDA_SUCCESS;
  };
  api.ctx_synchronize = [] { return CUDA_SUCCESS; };
  api.get_error_name = [](CUresult, char const**) { return CUDA_ERROR_INVALID_VALUE; };
  api.get_error_string = api.get_error_name;
  return api;
}

class RuntimeStream : public ::testing::Test {
 protected:
  std::unique_ptr<Stream> make(std::uint64_t id) {
    return std::make_unique<Stream>(driver_, gpu_, pinned_, StreamId{id});
  }

  tracing::cuda::Driver driver_{counting()};
  GpuStorage gpu_{driver_};
  PinnedStorage pinned_{driver_};
};

TEST_F(RuntimeStream, IsDestroyedIfItsEventCannotBeCreated) {
  counts.has_events = false;
  EXPECT_THROW(make(1), Error);
  EXPECT_EQ(counts.streams, 0);
}

TEST_F(RuntimeStream, ReusesBuffersWhoseCopiesHaveCompleted) {
  auto const stream = make(1);
  for (int i = 0; i < 100; ++i) stream->give_back(stream->take_pinned(100));
  EXPECT_LE(counts.pinned, 8u);
}

TEST_F(RuntimeStream, DoesNotReuseBuffersInFlight) {
  counts.is_busy = true;
  auto const stream = make(1);
  for (int i = 0; i < 100; ++i) stream->give_back(stream->take_pinned(100));
  EXPECT_EQ(counts.pinned, 100u);
}

TEST_F(RuntimeStream, ReclaimsUnusedMemoryOfOtherStreams) {
  counts.max_pages = 1;
  StreamMap all;
  for (std::uint64_t const id : {1u, 2u}) all.emplace(StreamId{id}, make(id));
  Command first(driver_, *all.at({1}), all);
  Command second(driver_, *all.at({2}), all);
  auto handle = first.empty(100);
  EXPECT_THROW(second.empty(100), Error) << "the page is in use";
  handle = {};
  EXPECT_NO_THROW(second.empty(100));
}

}}  // namespace cuda_tests
