// Declares what the runtime remembers of advice about managed memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace cuda_cpu::runtime {

struct Advice {
  bool read_mostly = false;
  bool accessed_by_device = false;
  bool accessed_by_host = false;
  cudaMemLocation preferred{};   // cudaMemLocationTypeInvalid: no place
  cudaMemLocation prefetched{};  // where it was prefetched to last
};

using Change = std::function<void(Advice&)>;

/// Changes what is known of the memory. Thread-safe.
void change_advice(void const* memory, std::size_t bytes, Change const& change);

/// Returns an error, explained, if the memory is not part of one managed allocation.
cudaError_t check_managed(void const* memory, std::size_t bytes);

}  // namespace cuda_cpu::runtime
