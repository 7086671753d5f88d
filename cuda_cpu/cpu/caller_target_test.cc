#include "cuda_cpu/cpu/caller_target.h"

#include <driver_types.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

using cuda_cpu::callers_of;
using cuda_cpu::CallSite;

namespace {

// Stands for a call of CUDA. Keeps its frame, so that the compiler does not turn the calls below into jumps.
[[gnu::noinline]] std::string target_of_caller() {
  char const* const target = cuda_cpu::cpu::target_of(callers_of(__builtin_frame_address(0), CallSite::kMax));
  return target == nullptr ? "(none)" : target;
}

[[gnu::noinline]] std::string target_of_one_frame() {
  return cuda_cpu::cpu::target_of(callers_of(__builtin_frame_address(0), 1));
}

}  // namespace

namespace solver {

[[gnu::noinline]] std::string step() { return target_of_caller() + ""; }

struct Mesh {
  [[gnu::noinline]] std::string refine() { return target_of_caller() + ""; }
  template <class T>
  [[gnu::noinline]] std::string scale(T) {
    return target_of_caller() + "";
  }
};

namespace {
[[gnu::noinline]] std::string hidden() { return target_of_caller() + ""; }
}  // namespace

std::string (*const lambda)() = [] { return target_of_caller() + ""; };

}  // namespace solver

[[gnu::noinline]] std::string in_no_namespace() { return target_of_caller() + ""; }

// As nvcc makes it for a kernel of the namespace `solver`.
[[gnu::noinline]] static std::string __device_stub__ZN6solver5scaleEPf() { return target_of_caller() + ""; }
static cudaError cudaCopyOf(std::string& target) {
  target = target_of_caller();
  return cudaSuccess;
}
namespace solver {
[[gnu::noinline]] std::string copy() {
  std::string target;
  static cudaError (*const volatile call)(std::string&) = cudaCopyOf;
  return call(target) == cudaSuccess ? target : "";
}
[[gnu::noinline]] std::string launch() { return __device_stub__ZN6solver5scaleEPf() + ""; }
}  // namespace solver

TEST(TargetOf, IsTheNamespaceAndClassOfTheCaller) {
  EXPECT_EQ(solver::step(), "solver");
  EXPECT_EQ(solver::Mesh().refine(), "solver::Mesh");
  EXPECT_EQ(solver::Mesh().scale(1.5), "solver::Mesh");
  EXPECT_EQ(solver::hidden(), "solver");
  EXPECT_EQ(solver::lambda(), "solver");
}

TEST(TargetOf, IsTheNameOfTheProgramForAFunctionInNoNamespace) { EXPECT_EQ(in_no_namespace(), "cuda_cpu_driver_test"); }

TEST(TargetOf, LeavesOutStubsOfKernels) { EXPECT_EQ(solver::launch(), "solver"); }

TEST(TargetOf, LeavesOutFunctionsOfCuda) { EXPECT_EQ(solver::copy(), "solver"); }

TEST(TargetOf, LeavesOutTheLibraryThroughWhichAFunctionIsCalled) {
  std::vector<int> const one{1};
  std::string found;
  std::for_each(one.begin(), one.end(), [&](int) { found = target_of_caller(); });
  EXPECT_EQ(found, "cuda_cpu_driver_test");
}

namespace thrust::THRUST_1_NS::detail {
[[gnu::noinline]] std::string sort() { return target_of_one_frame() + ""; }
}  // namespace thrust::THRUST_1_NS::detail

TEST(TargetOf, IsTheNameOfTheLibraryIfNoOtherFunctionIsKnown) {
  EXPECT_EQ(thrust::THRUST_1_NS::detail::sort(), "thrust");
}

TEST(TargetOf, HasOneAddressForEqualTargets) {
  auto const pointer = [] { return cuda_cpu::cpu::target_of(callers_of(__builtin_frame_address(0), CallSite::kMax)); };
  char const* other = nullptr;
  std::thread([&] { other = pointer(); }).join();
  EXPECT_EQ(pointer(), other);
}

TEST(TargetOf, IsNullWithoutACallSite) { EXPECT_EQ(cuda_cpu::cpu::target_of({}), nullptr); }
