// GraphAllocation: memory that nodes of graphs allocate and free.
//
// Its address is chosen with the node and stays the same, so the memory is there as long as a graph or the program can
// name it; allocating and freeing change only whether it counts as allocated. So, unlike on a GPU, other graphs do not
// reuse what is free, and a kernel that uses it then is no error.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuda_cpu::runtime {

class GraphAllocation : public std::enable_shared_from_this<GraphAllocation> {
 public:
  /// Null if there is not enough memory.
  static std::shared_ptr<GraphAllocation> make(std::size_t bytes);
  /// That begins at this address; null if there is none.
  static std::shared_ptr<GraphAllocation> find(CUdeviceptr address);

  GraphAllocation(CUdeviceptr its_address, std::size_t its_bytes);
  GraphAllocation(GraphAllocation const&) = delete;
  GraphAllocation& operator=(GraphAllocation const&) = delete;
  ~GraphAllocation();

  /// False if it is allocated already. What is allocated stays until it is freed, whatever happens to its graph.
  bool allocate();
  /// False if it is not allocated.
  bool free();

  CUdeviceptr const address;
  std::size_t const bytes;
};

/// Bytes of all graphs: allocated, and taken from the device; now, and at most so far.
struct GraphMemory {
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
};
GraphMemory graph_memory();
void reset_used_high();
void reset_reserved_high();

}  // namespace cuda_cpu::runtime
