// NodeParams: the work of a node of a CUDA graph, captured from a call or given by the program.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "tracing_core/cuda/launch.h"

namespace cuda_cpu::graph {

class Graph;
class GraphAllocation;

/// A copy of the arguments of a kernel, with the array of pointers that calls take and return. Immutable, so nodes
/// share it.
class Arguments {
 public:
  explicit Arguments(std::vector<std::byte> bytes, std::vector<std::size_t> const& offsets);

  void** pointers() const noexcept { return const_cast<void**>(pointers_.data()); }
  std::vector<std::byte> const& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> const bytes_;
  std::vector<void*> pointers_;
};

struct KernelNode {
  CUfunction function = nullptr;
  tracing::cuda::Dim3 grid;
  tracing::cuda::Dim3 block;
  unsigned shared_bytes = 0;
  std::shared_ptr<Arguments const> arguments;
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes{};  // hints, which change nothing here
};
struct MemcpyNode {
  cudaMemcpy3DParms copy{};
};
struct MemsetNode {
  cudaMemsetParams fill{};
};
struct HostNode {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct ChildNode {
  std::shared_ptr<Graph> graph;  // the node's own copy
};
struct EmptyNode {};
struct EventWaitNode {
  cudaEvent_t event = nullptr;
};
struct EventRecordNode {
  cudaEvent_t event = nullptr;
};
struct AllocNode {
  std::shared_ptr<GraphAllocation> allocation;
};
struct FreeNode {
  std::shared_ptr<GraphAllocation> allocation;
};

using NodeParams = std::variant<KernelNode, MemcpyNode, MemsetNode, HostNode, ChildNode, EmptyNode, EventWaitNode,
                                EventRecordNode, AllocNode, FreeNode>;

/// The type of each alternative of NodeParams, by index.
inline constexpr cudaGraphNodeType kNodeTypes[] = {
    cudaGraphNodeTypeKernel,   cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset,    cudaGraphNodeTypeHost,
    cudaGraphNodeTypeGraph,    cudaGraphNodeTypeEmpty,  cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord,
    cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree};
static_assert(std::size(kNodeTypes) == std::variant_size_v<NodeParams>);
/// The name of each alternative in fields of spans.
inline constexpr char const* kNodeNames[] = {"kernel", "memcpy",     "memset",       "host",      "graph",
                                             "empty",  "wait_event", "event_record", "mem_alloc", "mem_free"};
static_assert(std::size(kNodeNames) == std::variant_size_v<NodeParams>);

inline cudaGraphNodeType type_of(NodeParams const& params) noexcept { return kNodeTypes[params.index()]; }

// Make nodes from the structures that programs pass, which they check. cpu::refuse() or refuse() explains an error.

/// Copies the arguments. Launches pass them as an array of pointers, or as a buffer in `extra`.
CUresult make_kernel_node(CUfunction function, tracing::cuda::Dim3 grid, tracing::cuda::Dim3 block,
                          unsigned shared_bytes, void** pointers, void** extra, KernelNode& node);
cudaError_t make_node(cudaMemcpy3DParms const* params, NodeParams& node);
cudaError_t make_node(cudaMemsetParams const* params, NodeParams& node);
cudaError_t make_node(cudaHostNodeParams const* params, NodeParams& node);

/// Returns a copy of consecutive bytes.
MemcpyNode linear_copy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) noexcept;
/// Makes a node from a copy of the driver. For CU_MEMORYTYPE_UNIFIED the addresses decide, when the copy runs.
CUresult make_copy(CUDA_MEMCPY3D const& copy, NodeParams& node);
bool is_linear(cudaMemcpy3DParms const& copy) noexcept;

}  // namespace cuda_cpu::graph
