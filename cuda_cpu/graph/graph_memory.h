// GraphAllocation: memory that nodes of graphs allocate and free.
//
// Its address is chosen with the node and never changes. The memory exists as long as a graph or the program can name
// it; allocating and freeing change only whether it counts as allocated. So, unlike on a GPU, other graphs do not reuse
// free memory, and a kernel that uses free memory does not fail.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cuda_cpu::graph {

class GraphAllocation : public std::enable_shared_from_this<GraphAllocation> {
 public:
  /// Returns null if there is not enough memory.
  static std::shared_ptr<GraphAllocation> make(std::size_t bytes);
  /// Returns the allocation that begins at this address; null if there is none.
  static std::shared_ptr<GraphAllocation> find(CUdeviceptr address);

  GraphAllocation(CUdeviceptr its_address, std::size_t its_bytes);
  GraphAllocation(GraphAllocation const&) = delete;
  GraphAllocation& operator=(GraphAllocation const&) = delete;
  ~GraphAllocation();

  /// Returns false if it is allocated already. It then stays allocated until free(), whatever happens to its graph.
  bool allocate();
  /// Returns false if it is not allocated.
  bool free();

  CUdeviceptr const address;
  std::size_t const bytes;
};

/// The bytes that all graphs have allocated (used) and have taken from the device (reserved): now, and the most so far.
struct GraphMemory {
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
};
GraphMemory graph_memory();
void reset_used_high();
void reset_reserved_high();

}  // namespace cuda_cpu::graph
