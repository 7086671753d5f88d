// Every function that is not supported says so. Like refused.cc, this does not include the toolkit's headers, since the
// functions get no arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

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

// Calls the function and returns what it recorded.
std::vector<std::string> records_of(int (*function)()) {
  auto const subscriber = std::make_shared<tracing_test::RecordingSubscriber>();
  tracing::ScopedDefault const scope(subscriber);
  EXPECT_EQ(function(), kNotSupported);
  return subscriber->take();
}

TEST(RefusedFunctionsOfCublas, ReturnAStatusAndNameThemselves) {
  Refused const functions[] = {
#define CUDA_CPU_REFUSED(name, reason) {name, #name},
#include "cuda_cpu/cublas/refused.inc"
#undef CUDA_CPU_REFUSED
  };
  for (Refused const& its : functions) {
    SCOPED_TRACE(its.name);
    std::string name = its.name;  // as programs write it
    if (auto const at = name.find("_v2"); at != std::string::npos) name.erase(at, 3);
    EXPECT_THAT(records_of(its.function),
                ::testing::Contains(::testing::AllOf(::testing::HasSubstr("event ERROR cuda_cpu_cublas_test"),
                                                     ::testing::HasSubstr(name + "() failed: "),
                                                     ::testing::HasSubstr("not supported"))));
  }
}

TEST(RefusedFunctionsOfCublas, SayThatTheyAreOfComplexNumbersOrOfTheFirstInterface) {
  using ::testing::Contains;
  using ::testing::HasSubstr;
  for (auto* const function : {cublasCcopy_v2, cublasIcamax_v2, cublasScasum_v2, cublasDznrm2_v2})
    EXPECT_THAT(records_of(function), Contains(HasSubstr("complex numbers")));
  for (auto* const function : {cublasScopy, cublasIdamax, cublasSger, cublasInit})
    EXPECT_THAT(records_of(function), Contains(HasSubstr("cublas_v2.h")));
  // Names that only begin like those.
  for (auto* const function : {cublasCopyEx, cublasScalEx, cublasSdgmm, cublasDsyrkx})
    EXPECT_THAT(
        records_of(function),
        ::testing::Each(::testing::Not(::testing::AnyOf(HasSubstr("complex numbers"), HasSubstr("cublas_v2.h")))));
}

}  // namespace
