// Graph management: nodes that launch kernels, copy, set memory and call host functions.
#define TRACE_TARGET "tracing::cuda"
#include "cuda_cpu/runtime/node_calls.h"

#include <vector>

#include "tracing_core/tracing.h"

using namespace cuda_cpu::runtime;

namespace cuda_cpu::runtime {

cudaError_t add_node(cudaGraphNode_t* out, cudaGraph_t handle, cudaGraphNode_t const* dependencies,
                     cudaGraphEdgeData const* data, std::size_t count,
                     std::function<cudaError_t(NodeParams&)> const& make) noexcept {
  return call([&]() -> cudaError_t {
    tracing::Span const span = TRACE_MAKE_SPAN(trace, "graph_add_node", tracing::kv("type", tracing::empty));
    auto const entered = span.enter();
    auto const graph = find_graph(handle);
    if (out == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    NodeParams params;
    if (cudaError_t const error = make(params); error != cudaSuccess) return error;
    span.record(tracing::kv("type", kNodeNames[params.index()]));
    tracing::internal::MutexLock const lock(graphs_mutex);
    std::vector<Edge> edges;
    if (!read_nodes(*graph, dependencies, data, count, edges))
      return refuse(cudaErrorInvalidValue, "a node can only depend on nodes of its graph");
    *out = graph->add(std::move(params), edges).handle;
    return cudaSuccess;
  });
}

}  // namespace cuda_cpu::runtime

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                   std::size_t count, cudaKernelNodeParams const* params) {
  return add_node(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return get_params<KernelNode>(node, params, [&](KernelNode const& its) { *params = params_of(its); });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, cudaKernelNodeParams const* params) {
  return set_params(node, from(params));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaKernelNodeParams const* params) {
  return set_params(exec, node, from(params));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                   std::size_t count, cudaMemcpy3DParms const* params) {
  return add_node(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return get_params<MemcpyNode>(node, params, [&](MemcpyNode const& its) { *params = its.copy; });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, cudaMemcpy3DParms const* params) {
  return set_params(node, from(params));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaMemcpy3DParms const* params) {
  return set_params(exec, node, from(params));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                     std::size_t count, void* to, void const* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, nullptr, count, from_copy(to, from, bytes, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, void const* from, std::size_t bytes,
                                           cudaMemcpyKind kind) {
  return set_params(node, from_copy(to, from, bytes, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, void const* from,
                                               std::size_t bytes, cudaMemcpyKind kind) {
  return set_params(exec, node, from_copy(to, from, bytes, kind));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           cudaGraphNode_t const* dependencies, std::size_t count, void const* symbol,
                                           void const* from, std::size_t bytes, std::size_t offset,
                                           cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, nullptr, count, from_copy_to_symbol(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, void const* symbol, void const* from,
                                                 std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_params(node, from_copy_to_symbol(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void const* symbol,
                                                     void const* from, std::size_t bytes, std::size_t offset,
                                                     cudaMemcpyKind kind) {
  return set_params(exec, node, from_copy_to_symbol(symbol, from, bytes, offset, kind));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             cudaGraphNode_t const* dependencies, std::size_t count, void* to,
                                             void const* symbol, std::size_t bytes, std::size_t offset,
                                             cudaMemcpyKind kind) {
  return add_node(node, graph, dependencies, nullptr, count, from_copy_from_symbol(to, symbol, bytes, offset, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, void const* symbol,
                                                   std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set_params(node, from_copy_from_symbol(to, symbol, bytes, offset, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                       void const* symbol, std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  return set_params(exec, node, from_copy_from_symbol(to, symbol, bytes, offset, kind));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                   std::size_t count, cudaMemsetParams const* params) {
  return add_node(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return get_params<MemsetNode>(node, params, [&](MemsetNode const& its) { *params = its.fill; });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, cudaMemsetParams const* params) {
  return set_params(node, from(params));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaMemsetParams const* params) {
  return set_params(exec, node, from(params));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                 std::size_t count, cudaHostNodeParams const* params) {
  return add_node(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return get_params<HostNode>(node, params, [&](HostNode const& its) { *params = {its.function, its.data}; });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, cudaHostNodeParams const* params) {
  return set_params(node, from(params));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           cudaHostNodeParams const* params) {
  return set_params(exec, node, from(params));
}

}  // extern "C"
