// Fills of rows and slices, and their spans. Copies are in programs/copies.cu.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/printed.h"

namespace cuda_cpu::runtime { namespace {

// A fill of a part of each slice makes one span for each slice.
TEST(RuntimeFills, RecordSpansForRowsAndSlices) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  tracing::FormatOptions format;
  format.timer = nullptr;
  tracing::PrintOptions options{.event_format = tracing::make_event_format(format)};
  options.span_events = tracing::SpanEvents::exit;
  cudaPitchedPtr const slices{memory, 8, 8, 4};
  std::string const text = tracing_test::printed(
      std::move(options),
      [&] {
        EXPECT_EQ(cudaMemset2D(memory, 16, 1, 3, 4), cudaSuccess);
        EXPECT_EQ(cudaMemset3D(slices, 2, {8, 4, 2}), cudaSuccess);
        EXPECT_EQ(cudaMemset3DAsync(slices, 3, {5, 2, 2}, nullptr), cudaSuccess);
      },
      "trace,tracing::cuda::device=off");
  EXPECT_EQ(text,
            "TRACE memset_d2d8_async{value=1 row_bytes=3 rows=4 device=0 stream=0}: cuda_cpu::runtime: exit\n"
            "TRACE memset_d2d8_async{value=2 row_bytes=8 rows=8 device=0 stream=0}: cuda_cpu::runtime: exit\n"
            "TRACE memset_d2d8_async{value=3 row_bytes=5 rows=2 device=0 stream=0}: cuda_cpu::runtime: exit\n"
            "TRACE memset_d2d8_async{value=3 row_bytes=5 rows=2 device=0 stream=0}: cuda_cpu::runtime: exit\n");
  std::array<char, 64> found{};
  EXPECT_EQ(cudaMemcpy(found.data(), memory, found.size(), cudaMemcpyDeviceToHost), cudaSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(found[i], i % 8 < 5 && i / 8 % 4 < 2 ? 3 : 2) << i;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemset3D({memory, 8, 8, 2}, 0, {8, 4, 2}), cudaErrorInvalidValue) << "more rows than a slice has";
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}}  // namespace cuda_cpu::runtime
