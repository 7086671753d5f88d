// Functions of the backend that the table of the driver's calls does not list, for the stand-ins for NVIDIA's
// libraries.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cuda_cpu::cpu {

/// An array: elements in rows without gaps, in memory of the device.
struct Array {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};  // height and depth are zero for fewer dimensions
  std::size_t element_bytes = 0;
  CUdeviceptr memory = 0;

  std::size_t row_bytes() const noexcept { return descriptor.Width * element_bytes; }
  std::size_t rows() const noexcept { return descriptor.Height == 0 ? 1 : descriptor.Height; }
  std::size_t slices() const noexcept { return descriptor.Depth == 0 ? 1 : descriptor.Depth; }
};

/// Finds the array of a handle. Its memory is valid until the array is destroyed.
CUresult array_find(Array* out, CUarray array);

/// cuTexObjectCreate and the other calls for textures and surfaces. texture_find() sets the descriptors that are not
/// null. CUDA_ERROR_INVALID_VALUE for an unknown handle.
CUresult texture_create(CUtexObject* out, CUDA_RESOURCE_DESC const* resource, CUDA_TEXTURE_DESC const* texture,
                        CUDA_RESOURCE_VIEW_DESC const* view);
CUresult texture_destroy(CUtexObject texture);
CUresult texture_find(CUDA_RESOURCE_DESC* resource, CUDA_TEXTURE_DESC* descriptor, CUtexObject texture);
CUresult surface_create(CUsurfObject* out, CUDA_RESOURCE_DESC const* resource);
CUresult surface_destroy(CUsurfObject surface);
CUresult surface_find(CUDA_RESOURCE_DESC* resource, CUsurfObject surface);

/// Returns true if the stream and the default stream wait for each other, as cuStreamGetFlags says; also if the stream
/// does not exist.
bool is_blocking_stream(CUstream stream);

enum class MemoryOwner : std::uint8_t { unknown, device, managed, pinned };

/// The allocation at an address, which cuPointerGetAttribute is about.
struct PointerInfo {
  MemoryOwner owner = MemoryOwner::unknown;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
};
PointerInfo pointer_info(void const* address);

/// cuMemHostGetFlags: gives the flags of an allocation of pinned memory, for any address in it.
CUresult host_memory_flags(unsigned* flags, void const* address);

/// Bytes of a memory pool: in use now, and the two high-water marks (in use, reserved) since the program last reset
/// them. A pool reserves only what is in use.
struct PoolUse {
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
};
PoolUse pool_use(void const* pool);
void reset_high(void const* pool, std::uint64_t PoolUse::*high);
/// Counts an allocation as the pool's from now on, and as managed memory if the pool is of such memory. Has no effect
/// on memory of a graph, which belongs to no pool.
void assign_to_pool(CUdeviceptr address, void const* pool, bool is_managed);

/// cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE): sets the bytes that malloc() in kernels can give in all, at first 8 MiB.
CUresult set_heap_limit(std::size_t bytes);

}  // namespace cuda_cpu::cpu
