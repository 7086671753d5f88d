// OnBackend is the fixture of tests that run on both backends.
#pragma once

#include <testlog/testlog.h>

#include <optional>
#include <string>

#include "cuda_tests/runtime/client.h"

namespace cuda_tests {

/// The parameter is the name of the backend. A test is skipped, with a reason, if its backend is missing.
class OnBackend : public testing::TestWithParam<char const*> {
 protected:
  void SetUp() override {
    std::string why;
    backend_ = std::string(GetParam()) == "cpu" ? Backend::cpu(why) : Backend::cuda(why);
    if (backend_ == nullptr) GTEST_SKIP() << why;
    client_.emplace(*backend_);
  }
  bool is_cpu() const { return backend_->name() == "cpu"; }
  Client& client() { return *client_; }
  Backend& backend() { return *backend_; }

 private:
  Backend* backend_ = nullptr;
  std::optional<Client> client_;
};

/// Returns `count` / `size`, rounded up; at least one, so that kernels also run on empty input.
constexpr unsigned blocks_for(std::size_t count, std::size_t size) {
  return count == 0 ? 1 : static_cast<unsigned>((count + size - 1) / size);
}

}  // namespace cuda_tests

// Runs the tests of the suite on both backends. Tests of the instance Cuda have the label `gpu`.
#define CUDA_TESTS_ON_BOTH_BACKENDS(suite)                        \
  INSTANTIATE_TEST_SUITE_P(Cpu, suite, ::testing::Values("cpu")); \
  INSTANTIATE_TEST_SUITE_P(Cuda, suite, ::testing::Values("cuda"))
