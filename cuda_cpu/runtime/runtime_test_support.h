// For tests of the stand-in: programs as nvcc makes them, from the fat binaries in cuda_cpu/fatbin/testdata.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "cuda_cpu/cpu/cpu_driver.h"

extern "C" {

void** __cudaRegisterFatBinary(void const* image);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, char const* host_function, char*, char const* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host_variable, char*, char const* name, int, std::size_t bytes, int, int);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host_function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** parameters, std::size_t shared_bytes,
                               cudaStream_t stream);

}  // extern "C"

namespace cuda_cpu::runtime {

// The tests expect refusals, so these do not make the status of the process 1, and texts without lines.
inline bool const is_prepared = set_cpu_driver_options({.frames = 0, .changes_status = false});

inline std::string read_fat_binary(std::string const& name) {
  std::ifstream file(std::string(TESTLOG_TEST_DIR) + "/../fatbin/testdata/" + name + ".fatbin", std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A translation unit: its code registers it before main() and forgets it at the end.
class Unit {
 public:
  explicit Unit(std::string const& fat_binary) : data_(read_fat_binary(fat_binary)) {
    wrapper_.data = data_.data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  Unit(Unit const&) = delete;
  Unit& operator=(Unit const&) = delete;
  ~Unit() { __cudaUnregisterFatBinary(handle_); }

  /// Only the address of `host_function` counts.
  void add_kernel(char const& host_function, char const* name) {
    __cudaRegisterFunction(handle_, &host_function, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
  void add_variable(char& host_variable, char const* name, std::size_t bytes) {
    __cudaRegisterVar(handle_, &host_variable, nullptr, name, 0, bytes, 0, 0);
  }

 private:
  std::string const data_;
  struct {
    unsigned magic = 0x466243b1;
    unsigned version = 1;
    void const* data = nullptr;
    void const* units = nullptr;
  } wrapper_;
  void** handle_ = nullptr;
};

/// The kernel of the fat binaries: store(int* to) writes 7.
class UnitWithStore : public Unit {
 public:
  explicit UnitWithStore(std::string const& fat_binary = "default") : Unit(fat_binary) {
    add_kernel(host_function, "store");
  }

  /// Launches as store<<<grid, block, 0, stream>>>(to) does.
  cudaError_t launch(int* to, cudaStream_t stream = nullptr, dim3 grid = 1, dim3 block = 1) const {
    cudaKernel_t kernel = nullptr;
    __cudaPushCallConfiguration(grid, block, 0, stream);
    std::size_t shared_bytes = 0;
    if (cudaError_t const error = __cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream);
        error != cudaSuccess)
      return error;
    if (cudaError_t const error = __cudaGetKernel(&kernel, &host_function); error != cudaSuccess) return error;
    void* parameters[] = {&to};
    return __cudaLaunchKernel(kernel, grid, block, parameters, shared_bytes, stream);
  }

  char const host_function = 0;
};

/// Takes the error of a refused launch, which later calls return, too.
inline void take_refusal(cudaError_t error) {
  EXPECT_EQ(cudaGetLastError(), error);
  EXPECT_EQ(cudaDeviceSynchronize(), error);
  EXPECT_EQ(cudaGetLastError(), error);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

/// An int in memory of the device.
class DeviceInt {
 public:
  DeviceInt() {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&its), sizeof(int)), cudaSuccess);
    EXPECT_EQ(cudaMemset(its, 0, sizeof(int)), cudaSuccess);
  }
  DeviceInt(DeviceInt const&) = delete;
  DeviceInt& operator=(DeviceInt const&) = delete;
  ~DeviceInt() { EXPECT_EQ(cudaFree(its), cudaSuccess); }

  int value() const {
    int value = -1;
    EXPECT_EQ(cudaMemcpy(&value, its, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }

  int* its = nullptr;
};

}  // namespace cuda_cpu::runtime
