// Every function that is not supported says so. Like refused.cc, this does not include the toolkit's headers, since the
// functions get no arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/recording_subscriber.h"

extern "C" {

#define CUDA_CPU_REFUSED(name, reason) int name();
#include "cuda_cpu/runtime/refused.inc"
#undef CUDA_CPU_REFUSED
int cudaGetLastError();

}  // extern "C"

namespace {

constexpr int kNotSupported = 801;  // cudaErrorNotSupported

struct Refused {
  int (*function)();
  std::string name;
  std::string reason;
};

TEST(RefusedFunctions, ReturnAnErrorAndNameThemselves) {
  Refused const functions[] = {
#define CUDA_CPU_REFUSED(name, reason) {name, #name, reason},
#include "cuda_cpu/runtime/refused.inc"
#undef CUDA_CPU_REFUSED
  };
  for (Refused const& its : functions) {
    ::testing::internal::CaptureStderr();
    int const result = its.function();
    std::string const reason = its.reason.empty() ? "" : ": " + its.reason;
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "testlog: " + its.name + "() is not supported" + reason + " (cudaErrorNotSupported)\n");
    EXPECT_EQ(result, kNotSupported) << its.name;
    EXPECT_EQ(cudaGetLastError(), kNotSupported) << its.name;
  }
}

TEST(RefusedFunctions, AreEventsInPlaceOfLinesIfSomebodyGetsThem) {
  auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
  tracing::ScopedDefault const scope(subscriber);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cudaIpcOpenEventHandle(), kNotSupported);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(
      subscriber->take(),
      ::testing::Contains(::testing::AllOf(
          ::testing::HasSubstr("event ERROR cuda_cpu_runtime_test"),
          ::testing::HasSubstr("cudaIpcOpenEventHandle() is not supported: processes do not share memory here"))));
}

}  // namespace
