// Copies: in which direction memory is copied, which spans and errors depend on.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace cuda_cpu::runtime {

enum class Direction : std::uint8_t { host_to_host, host_to_device, device_to_host, device_to_device };

/// cudaMemcpyDefault is replaced by what the addresses are. Returns an error for a kind that does not exist.
cudaError_t direction_of(cudaMemcpyKind kind, void const* to, void const* from, Direction* direction);

/// The copy as the driver takes it.
cudaError_t to_driver(cudaMemcpy3DParms const& parameters, CUDA_MEMCPY3D& out);

/// The memory at an offset in a variable of the device; an error if there are no such `bytes` in it.
cudaError_t at_symbol(void const* symbol, std::size_t bytes, std::size_t offset, std::byte** memory);

/// Whether the device owns the memory at this address: allocations of the host are the host's, also if they are pinned.
bool is_device_memory(void const* address);

}  // namespace cuda_cpu::runtime
