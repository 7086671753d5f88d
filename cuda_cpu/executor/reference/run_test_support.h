// For tests: a device with kernels from PTX and arrays in its memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_cpu/executor/executor.h"
#include "cuda_cpu/executor/machine/machine.h"
#include "cuda_cpu/executor/reference/checked_forms.h"
#include "cuda_cpu/ptx/parse.h"

namespace cuda_cpu {

inline std::string read_testdata(std::string const& name) {
  std::ifstream file(std::string(TESTLOG_TEST_DIR) + "/testdata/" + name + ".ptx", std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

class TestDevice {
 public:
  /// If the environment variable CUDA_CPU_TEST_CHECKS is set, all launches are checked, which must not change the
  /// results of correct kernels.
  explicit TestDevice(unsigned workers = 2) : executor(std::make_unique<Executor>(Executor::Options{workers, 16})) {
    if (std::getenv("CUDA_CPU_TEST_CHECKS") != nullptr) options.checks = {true, true, true, true};
    if (std::getenv("CUDA_CPU_TEST_BASIC_VECTORS") != nullptr) forgo_wide_vectors();
  }

  void load(std::string_view text) {
    auto parsed = ptx::parse(text);
    if (auto const* const diagnostic = std::get_if<ptx::Diagnostic>(&parsed)) FAIL() << diagnostic->to_string();
    program = Program::load(std::get<0>(parsed), memory);
    ASSERT_NE(program, nullptr);
  }

  template <class T>
  T* upload(std::vector<T> const& values) {
    auto* const to = allocate<T>(values.size());
    std::memcpy(to, values.data(), values.size() * sizeof(T));
    return to;
  }
  template <class T>
  T* allocate(std::size_t count) {
    auto const address = memory.allocate(std::max<std::size_t>(count, 1) * sizeof(T));
    std::memset(reinterpret_cast<void*>(address), 0, count * sizeof(T));
    return reinterpret_cast<T*>(address);
  }

  /// Runs an entry. Parameters are laid out one after the other, each aligned to its size.
  template <class... A>
  std::optional<Fault> run(std::string_view name, LaunchShape const& shape, A... parameters) {
    auto const* const kernel = program->find_kernel(name);
    if (kernel == nullptr) {
      auto const* const entry = program->module().find_entry(name);
      ADD_FAILURE() << "no kernel " << name
                    << (entry != nullptr && entry->refusal ? ": " + entry->refusal->message : "");
      return std::nullopt;
    }
    std::vector<std::byte> bytes;
    (append(bytes, parameters), ...);
    statistics = {};
    return executor->run(*kernel, shape, bytes, memory, options, &statistics);
  }

  DeviceMemory memory;
  std::shared_ptr<Program const> program;
  std::unique_ptr<Executor> executor;
  RunOptions options;
  RunStatistics statistics;  // statistics of the last run

 private:
  template <class T>
  static void append(std::vector<std::byte>& bytes, T const& value) {
    std::size_t const begin = (bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bytes.resize(begin + sizeof(T));
    std::memcpy(bytes.data() + begin, &value, sizeof value);
  }
};

inline std::string text_of(std::optional<Fault> const& fault) { return fault ? fault->message : ""; }

}  // namespace cuda_cpu
