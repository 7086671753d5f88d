#define TRACE_TARGET "tracing::cuda::launch"
#include "cuda_cpu/graph/node_edits.h"

#include <vector>

#include "cuda_cpu/graph/errors.h"
#include "tracing_core/emit/for_callers.h"

namespace cuda_cpu::graph {

cudaError_t add_node(cudaGraphNode_t* out, cudaGraph_t handle, cudaGraphNode_t const* dependencies,
                     cudaGraphEdgeData const* data, std::size_t count,
                     std::function<cudaError_t(NodeParams&)> const& make) {
  tracing::Span const span = TRACE_MAKE_SPAN(trace, "graph_add_node", tracing::kv("type", tracing::empty));
  auto const entered = span.enter();
  auto const graph = find_graph(handle);
  if (out == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  NodeParams params;
  if (cudaError_t const error = make(params); error != cudaSuccess) return error;
  span.record(tracing::kv("type", kNodeNames[params.index()]));
  tracing::support::MutexLock const lock(graphs_mutex);
  std::vector<Edge> edges;
  if (!read_nodes(*graph, dependencies, data, count, edges))
    return refuse(cudaErrorInvalidValue, "a node can only depend on nodes of its graph");
  *out = graph->add(std::move(params), edges).handle;
  return cudaSuccess;
}

}  // namespace cuda_cpu::graph
