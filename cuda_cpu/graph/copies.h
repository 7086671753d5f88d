// Copies as the runtime library describes them: their direction, which spans and errors depend on, and their form for
// the driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cuda_cpu::graph {

enum class Direction : std::uint8_t { host_to_host, host_to_device, device_to_host, device_to_device };

/// Finds the direction of a copy: by its kind, or by the addresses for cudaMemcpyDefault. Returns an error for an
/// unknown kind, and an error, explained, for a kind that says host where the memory is the device's.
cudaError_t direction_of(cudaMemcpyKind kind, void const* to, void const* from, Direction* direction);

/// One end of a copy: memory, or an array. `x` counts bytes.
struct End {
  cudaArray_const_t array = nullptr;
  void const* memory = nullptr;
  std::size_t pitch = 0;
  std::size_t height = 0;
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t z = 0;
};

/// A copy in up to three dimensions.
struct Copy {
  End to;
  End from;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t slices = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

// Describe a copy as the driver takes it. An error if the direction is wrong or an array does not exist.
cudaError_t to_driver(Copy const& copy, CUDA_MEMCPY3D& out);
cudaError_t to_driver(cudaMemcpy3DParms const& parameters, CUDA_MEMCPY3D& out);

}  // namespace cuda_cpu::graph
