// For tests of the stand-in for cuBLAS: a handle, arrays of the device, and products computed in the plainest way.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "cuda_cpu/cpu/cpu_driver.h"

namespace cuda_cpu::cublas {

// The tests expect refusals and faults, so these do not make the status of the process 1, and texts without lines.
inline bool const is_prepared = set_cpu_driver_options({.frames = 0, .changes_status = false});

/// An array in memory of the device.
template <class T>
class Array {
 public:
  explicit Array(std::vector<T> const& values) : size_(values.size()) {
    EXPECT_EQ(cudaMalloc(&its_, size_ * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(its_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  Array(Array const&) = delete;
  Array& operator=(Array const&) = delete;
  ~Array() { cudaFree(its_); }

  T* get() const { return static_cast<T*>(its_); }
  std::vector<T> values() const {
    std::vector<T> all(size_);
    EXPECT_EQ(cudaMemcpy(all.data(), its_, size_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return all;
  }

 private:
  std::size_t size_;
  void* its_ = nullptr;
};

/// Returns small whole numbers, whose products and sums all types represent exactly.
template <class T = float>
std::vector<T> numbers(std::size_t count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> some(-4, 4);
  std::vector<T> all(count);
  for (T& number : all) number = static_cast<T>(static_cast<float>(some(generator)));
  return all;
}

/// Returns element (row, column) of op(matrix).
template <class T>
double at(std::vector<T> const& matrix, int ld, cublasOperation_t operation, int row, int column) {
  auto const [i, j] = operation == CUBLAS_OP_N ? std::pair(row, column) : std::pair(column, row);
  return static_cast<double>(static_cast<float>(matrix[static_cast<std::size_t>(j * ld + i)]));
}

class Cublas : public ::testing::Test {
 protected:
  Cublas() { EXPECT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS); }
  ~Cublas() override { EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS); }

  cublasHandle_t handle = nullptr;
};

}  // namespace cuda_cpu::cublas
