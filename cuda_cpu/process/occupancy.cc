#include "cuda_cpu/process/occupancy.h"

#include <algorithm>

#include "cuda_cpu/process/driver.h"

namespace cuda_cpu::process {

int attribute_of(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  driver().api().func_get_attribute(&value, attribute, function);
  return value;
}

int attribute_of(CUdevice_attribute attribute) {
  int value = 0;
  driver().api().device_get_attribute(&value, attribute, 0);
  return value;
}

int resident_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes) {
  int const warps = (block_threads + 31) / 32;
  std::size_t const shared =
      static_cast<std::size_t>(attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)) + dynamic_shared_bytes +
      static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  int const registers = std::max(attribute_of(function, CU_FUNC_ATTRIBUTE_NUM_REGS), 1) * warps * 32;
  return std::min(
      {attribute_of(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
       attribute_of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (warps * 32),
       attribute_of(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) / registers,
       static_cast<int>(
           static_cast<std::size_t>(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)) / shared)});
}

int active_blocks(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes) {
  return block_threads > attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
             ? 0
             : resident_blocks(function, block_threads, dynamic_shared_bytes);
}

std::size_t available_shared_bytes(CUfunction function, int blocks) {
  int const share = attribute_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / blocks -
                    attribute_of(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) -
                    attribute_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  return static_cast<std::size_t>(
      std::clamp(share, 0, attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)));
}

std::uint64_t resident_blocks_of_device(CUfunction function, int block_threads, std::size_t dynamic_shared_bytes) {
  return static_cast<std::uint64_t>(resident_blocks(function, block_threads, dynamic_shared_bytes)) *
         static_cast<std::uint64_t>(attribute_of(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

}  // namespace cuda_cpu::process
