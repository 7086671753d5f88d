// Every function that is not supported says so. Like refused.cc, this does not include the toolkit's headers, since the
// functions get no arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/recording_subscriber.h"

extern "C" {

#define CUDA_CPU_REFUSED(name, reason) int name();
#include "cuda_cpu/cublas/refused.inc"
#undef CUDA_CPU_REFUSED

}  // extern "C"

namespace {

constexpr int kNotSupported = 15;  // CUBLAS_STATUS_NOT_SUPPORTED

struct Refused {
  int (*function)();
  std::string name;
};

TEST(RefusedFunctionsOfCublas, ReturnAStatusAndNameThemselves) {
  Refused const functions[] = {
#define CUDA_CPU_REFUSED(name, reason) {name, #name},
#include "cuda_cpu/cublas/refused.inc"
#undef CUDA_CPU_REFUSED
  };
  for (Refused const& its : functions) {
    auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
    tracing::ScopedDefault const scope(subscriber);
    EXPECT_EQ(its.function(), kNotSupported) << its.name;
    std::string name = its.name;  // as programs write it
    if (auto const at = name.find("_v2"); at != std::string::npos) name.erase(at, 3);
    EXPECT_THAT(subscriber->take(),
                ::testing::Contains(::testing::AllOf(::testing::HasSubstr("event ERROR cuda_cpu_cublas_test"),
                                                     ::testing::HasSubstr(name + "() failed: "),
                                                     ::testing::HasSubstr("not supported"))));
  }
}

}  // namespace
