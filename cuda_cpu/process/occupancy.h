// Attributes of kernels and of the device, and how many blocks of a kernel the device holds at the same time.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cuda_cpu::process {

/// Returns 0 if the function or the attribute does not exist.
int attribute_of(CUfunction function, CUfunction_attribute attribute);
/// Returns 0 if the device does not have the attribute.
int attribute_of(CUdevice_attribute attribute);

/// Returns how many blocks of a kernel a multiprocessor holds, by its limits of blocks, threads, registers and shared
/// memory.
int resident_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes);
/// Returns resident_blocks(), or 0 for a block of more threads than the kernel may have.
int active_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes);
/// Returns how many blocks of a kernel all multiprocessors hold.
std::uint64_t resident_blocks_of_device(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes);

/// Returns the dynamic shared memory that each block can have while a multiprocessor holds `blocks` of them.
std::size_t available_shared_bytes(CUfunction function, int blocks);

}  // namespace cuda_cpu::process
