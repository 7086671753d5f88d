// The spans of memory management and copies.
#define TRACE_TARGET "tracing::cuda_test"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tracing_core/cuda/driver/driver_test_support.h"

namespace tracing::cuda_test { namespace {

using ::testing::HasSubstr;

TEST(Driver, MeasuresSynchronousCopies) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] { driver.memcpy_htod(0x1000, "abcd", 4); }, SpanEvents::exit);
  EXPECT_EQ(text,
            "TRACE memcpy_htod{bytes=4 device=0}: tracing::cuda_test: copied duration_us=<us> gb_per_s=<gb>\n"
            "TRACE memcpy_htod{bytes=4 device=0 duration_us=<us> gb_per_s=<gb>}: tracing::cuda_test: exit\n");
}

TEST(Driver, RecordsWhatIsAllocatedAndFreed) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] {
    CUdeviceptr pointer = 0;
    driver.mem_alloc(&pointer, 64);
    driver.mem_free(pointer);
    driver.mem_free(0x3000);
    driver.mem_free(0);
  });
  EXPECT_EQ(text,
            "TRACE mem_alloc{bytes=64 device=0}: tracing::cuda_test: allocated pointer=0x1000\n"
            "TRACE mem_free{pointer=0x1000}: tracing::cuda_test: freed bytes=64\n"
            "TRACE mem_free{pointer=0x3000}: tracing::cuda_test: freed\n"
            "TRACE mem_free{pointer=0x0}: tracing::cuda_test: freed\n");
}

TEST(Driver, ReportsNoSuccessOfAFailedCall) {
  Driver driver(answering());
  answers.alloc = CUDA_ERROR_OUT_OF_MEMORY;
  CUdeviceptr pointer = 0;
  EXPECT_THAT(printed_of_driver([&] { driver.mem_alloc(&pointer, 64); }),
              ::testing::AllOf(HasSubstr("cuMemAlloc(64 bytes) failed"), ::testing::Not(HasSubstr("allocated"))));
}

TEST(Driver, RecordsTheStreamOfAsynchronousCalls) {
  Driver driver(answering());
  CUstream stream = nullptr;
  driver.stream_create(&stream, 0);
  std::string const text = printed_of_driver(
      [&] {
        CUdeviceptr pointer = 0;
        driver.mem_alloc_async(&pointer, 64, stream);
        EXPECT_EQ(pointer, 0x2000u);
        driver.mem_free_async(pointer, stream);
        driver.memcpy_htod_async(0x1000, "abcd", 4, stream);
        driver.memcpy_dtoh_async(nullptr, 0x1000, 5, stream);
        driver.memcpy_dtod_async(0x1000, 0x2000, 6, stream);
        driver.memset_d8_async(0x1000, 255, 7, stream);
        driver.memset_d32_async(0x1000, 256, 8, stream);
        driver.memset_d2d8_async(0x1000, 64, 255, 9, 2, stream);
        driver.memset_d2d16_async(0x1000, 64, 256, 9, 2, stream);
        driver.memset_d2d32_async(0x1000, 64, 65536, 9, 2, stream);
      },
      SpanEvents::exit);
  EXPECT_EQ(text,
            "TRACE mem_alloc_async{bytes=64 device=0 stream=1}: tracing::cuda_test: allocated pointer=0x2000\n"
            "TRACE mem_alloc_async{bytes=64 device=0 stream=1 pointer=0x2000}: tracing::cuda_test: exit\n"
            "TRACE mem_free_async{pointer=0x2000 device=0 stream=1}: tracing::cuda_test: freed\n"
            "TRACE mem_free_async{pointer=0x2000 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memcpy_htod_async{bytes=4 device=0 stream=1}: tracing::cuda_test: enqueued\n"
            "TRACE memcpy_htod_async{bytes=4 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memcpy_dtoh_async{bytes=5 device=0 stream=1}: tracing::cuda_test: enqueued\n"
            "TRACE memcpy_dtoh_async{bytes=5 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memcpy_dtod_async{bytes=6 device=0 stream=1}: tracing::cuda_test: enqueued\n"
            "TRACE memcpy_dtod_async{bytes=6 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memset_d8_async{value=255 count=7 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memset_d32_async{value=256 count=8 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memset_d2d8_async{value=255 row_bytes=9 rows=2 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memset_d2d16_async{value=256 row_bytes=18 rows=2 device=0 stream=1}: tracing::cuda_test: exit\n"
            "TRACE memset_d2d32_async{value=65536 row_bytes=36 rows=2 device=0 stream=1}: tracing::cuda_test: exit\n");
}

TEST(Driver, RecordsThatACopyIsCaptured) {
  Driver driver(answering());
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  std::string const text = printed_of_driver([&] {
    driver.memcpy_dtod_async(0x1000, 0x2000, 6, nullptr);
    answers.capture = CU_STREAM_CAPTURE_STATUS_NONE;
    driver.memcpy_dtod_async(0x1000, 0x2000, 7, nullptr);
  });
  EXPECT_EQ(text,
            "TRACE memcpy_dtod_async{bytes=6 device=0 stream=0 capture=\"active\"}: tracing::cuda_test: captured\n"
            "TRACE memcpy_dtod_async{bytes=7 device=0 stream=0}: tracing::cuda_test: enqueued\n");
}

TEST(Driver, RecordsTheShapeOfAnArray) {
  Driver driver(answering());
  std::string const text = printed_of_driver([&] {
    CUarray array = nullptr;
    driver.array_3d_create(&array, {8, 4, 0, CU_AD_FORMAT_HALF, 2, 0});
    driver.array_destroy(array);
    driver.array_3d_create(&array, {8, 4, 0, CU_AD_FORMAT_BC1_UNORM, 4, 0});  // four bits for an element
  });
  EXPECT_EQ(
      text,
      "TRACE array_3d_create{width=8 height=4 depth=0 format=\"half\" channels=2 flags=0 bytes=128 device=0}: "
      "tracing::cuda_test: allocated pointer=0x4000\n"
      "TRACE array_destroy{pointer=0x4000 device=0}: tracing::cuda_test: freed\n"
      "TRACE array_3d_create{width=8 height=4 depth=0 channels=4 flags=0 device=0}: tracing::cuda_test: allocated "
      "pointer=0x4000\n");
}

TEST(Driver, RecordsThatAnAllocationIsCaptured) {
  Driver driver(answering());
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  std::string const text = printed_of_driver([&] {
    CUdeviceptr pointer = 0;
    driver.mem_alloc_async(&pointer, 64, nullptr);
    driver.mem_free_async(pointer, nullptr);
  });
  EXPECT_EQ(
      text,
      "TRACE mem_alloc_async{bytes=64 device=0 stream=0 capture=\"active\"}: tracing::cuda_test: captured "
      "pointer=0x2000\n"
      "TRACE mem_free_async{pointer=0x2000 device=0 stream=0 capture=\"active\"}: tracing::cuda_test: captured\n");
}

TEST(Driver, RecordsThatAFillIsCaptured) {
  Driver driver(answering());
  answers.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  std::string const text = printed_of_driver(
      [&] {
        driver.memset_d8_async(0x1000, 255, 7, nullptr);
        driver.memset_d2d32_async(0x1000, 64, 65536, 9, 2, nullptr);
      },
      SpanEvents::exit);
  EXPECT_EQ(text,
            "TRACE memset_d8_async{value=255 count=7 device=0 stream=0 capture=\"active\"}: tracing::cuda_test: exit\n"
            "TRACE memset_d2d32_async{value=65536 row_bytes=36 rows=2 device=0 stream=0 capture=\"active\"}: "
            "tracing::cuda_test: exit\n");
}

TEST(Driver, RecordsTheSizeOfCopiesAndFillsOnTheDevice) {
  Driver driver(answering());
  std::string const text = printed_of_driver(
      [&] {
        driver.memcpy_dtod(0x1000, 0x2000, 16);
        driver.memset_d8(0x1000, 255, 7);
        driver.memset_d32(0x1000, 256, 8);
      },
      SpanEvents::exit);
  EXPECT_EQ(text,
            "TRACE memcpy_dtod{bytes=16 device=0}: tracing::cuda_test: enqueued\n"
            "TRACE memcpy_dtod{bytes=16 device=0}: tracing::cuda_test: exit\n"
            "TRACE memset_d8{value=255 count=7 device=0}: tracing::cuda_test: exit\n"
            "TRACE memset_d32{value=256 count=8 device=0}: tracing::cuda_test: exit\n");
}

}}  // namespace tracing::cuda_test
