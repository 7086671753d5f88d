// For tests: a device of its own, kernels of PTX files, and arrays in its memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_tests/executor/executor.h"
#include "cuda_tests/executor/form_record.h"
#include "cuda_tests/ptx/parse.h"

namespace cuda_tests {

inline std::string read_testdata(std::string const& name) {
  std::ifstream file(std::string(TESTLOG_TEST_DIR) + "/testdata/" + name + ".ptx", std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

class TestDevice {
 public:
  explicit TestDevice(unsigned workers = 2) : executor(std::make_unique<Executor>(Executor::Options{workers, 16})) {}

  void load(std::string_view text) {
    auto parsed = ptx::parse(text);
    if (auto const* const diagnosis = std::get_if<ptx::Diagnosis>(&parsed)) FAIL() << diagnosis->to_string();
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

  /// Runs an entry with its parameters one after the other, each at a multiple of its size.
  template <class... A>
  std::optional<Fault> run(std::string_view name, LaunchShape const& shape, A... parameters) {
    auto const* const kernel = program->find_kernel(name);
    if (kernel == nullptr) {
      auto const* const entry = program->module().find_entry(name);
      ADD_FAILURE() << "no kernel " << name << (entry != nullptr && entry->refusal ? ": " + entry->refusal->message : "");
      return std::nullopt;
    }
    std::vector<std::byte> bytes;
    (append(bytes, parameters), ...);
    RunOptions recorded = options;
    recorded.opcode_statistics = options.opcode_statistics || form_record() != nullptr;
    statistics = {};
    auto fault = executor->run(*kernel, shape, bytes, memory, recorded, &statistics);
    record_run(statistics);
    return fault;
  }

  DeviceMemory memory;
  std::shared_ptr<Program const> program;
  std::unique_ptr<Executor> executor;
  RunOptions options;
  RunStatistics statistics;  // of the last run

 private:
  template <class T>
  static void append(std::vector<std::byte>& bytes, T const& value) {
    std::size_t const begin = (bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bytes.resize(begin + sizeof(T));
    std::memcpy(bytes.data() + begin, &value, sizeof value);
  }
};

inline std::string text_of(std::optional<Fault> const& fault) { return fault ? fault->message : ""; }

}  // namespace cuda_tests
