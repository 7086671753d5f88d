// What the stand-ins for NVIDIA's libraries need of the backend beyond the table of calls.
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

/// The array of a handle, which is valid until it is destroyed.
CUresult array_find(Array* out, CUarray array);

/// cuTexObjectCreate and the other calls for textures and surfaces. The descriptors that are not null are set.
/// CUDA_ERROR_INVALID_VALUE for a handle of none.
CUresult texture_create(CUtexObject* out, CUDA_RESOURCE_DESC const* resource, CUDA_TEXTURE_DESC const* texture,
                        CUDA_RESOURCE_VIEW_DESC const* view);
CUresult texture_destroy(CUtexObject texture);
CUresult texture_find(CUDA_RESOURCE_DESC* resource, CUDA_TEXTURE_DESC* descriptor, CUtexObject texture);
CUresult surface_create(CUsurfObject* out, CUDA_RESOURCE_DESC const* resource);
CUresult surface_destroy(CUsurfObject surface);
CUresult surface_find(CUDA_RESOURCE_DESC* resource, CUsurfObject surface);

/// cuStreamGetFlags: whether the stream and the default stream wait for each other. True if there is no such stream.
bool is_blocking_stream(CUstream stream);

enum class MemoryOwner : std::uint8_t { unknown, device, managed, pinned };

/// What cuPointerGetAttribute would say of the memory at an address.
struct PointerInfo {
  MemoryOwner owner = MemoryOwner::unknown;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
};
PointerInfo pointer_info(void const* address);

/// cuMemHostGetFlags: those that pinned memory was allocated with, by any address in it.
CUresult host_memory_flags(unsigned* flags, void const* address);

/// How much of the allocations that are not freed is of a memory pool, in bytes; and the most so far, since a program
/// set it to zero. A pool reserves what is in use.
struct PoolUse {
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
};
PoolUse pool_use(void const* pool);
void reset_high(void const* pool, std::uint64_t PoolUse::* high);
/// An allocation is of this pool from now on. Without effect on memory of a graph, which is of none.
void assign_to_pool(CUdeviceptr address, void const* pool);

/// cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE): the bytes that malloc() gives to kernels in all, 8 MiB at first.
CUresult set_heap_limit(std::size_t bytes);

}  // namespace cuda_cpu::cpu
