// Planted: a stream reads what another stream writes, without an event between the two.
#include <gtest/gtest.h>

#include <cstdint>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "testlog/testdata/planted/noise.h"
#include "tracing_core/cuda/driver.h"

namespace planted { namespace {

// Takes some time on the stream of the writer.
void prepare(void*) {
  TRACE_SPAN(debug, "prepare");
  make_noise();
  nap(500);
  TRACE_DEBUG("prepared");
}

TEST(MissingEvent, Planted) {
  tracing::cuda::Driver driver(cuda_cpu::cpu_driver_api(), cuda_cpu::cpu_driver_options());
  ASSERT_EQ(driver.open_device(0), CUDA_SUCCESS);
  CUstream writer = nullptr, reader = nullptr;
  driver.stream_create(&writer, CU_STREAM_NON_BLOCKING);
  driver.stream_create(&reader, CU_STREAM_NON_BLOCKING);
  CUdeviceptr memory = 0;
  driver.mem_alloc(&memory, sizeof(std::uint32_t));
  driver.memset_d32(memory, 0, 1);
  driver.stream_synchronize(nullptr);  // other streams do not wait for the default stream
  std::uint32_t value = 0;
  driver.launch_host_func(writer, prepare, nullptr);
  driver.memset_d32_async(memory, 7, 1, writer);
  nap(20'000);  // in place of a wait of the reader for an event of the writer
  driver.memcpy_dtoh_async(&value, memory, sizeof(value), reader);
  driver.stream_synchronize(reader);
  TRACE_DEBUG("read", value);
  driver.stream_synchronize(writer);
  ASSERT_EQ(value, 7u);
}

}}  // namespace planted
