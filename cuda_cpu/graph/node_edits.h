// How nodes are added, read and replaced, in graphs and in executable graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <utility>
#include <variant>

#include "cuda_cpu/graph/graph.h"
#include "cuda_cpu/graph/graph_exec.h"

namespace cuda_cpu::graph {

/// Adds the node that `make` makes.
cudaError_t add_node(cudaGraphNode_t* out, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                     cudaGraphEdgeData const* data, std::size_t count,
                     std::function<cudaError_t(NodeParams&)> const& make);

/// Gives the parameters of a node to `give(Params const&)`. Returns an error if `out`, where `give` writes, is null.
template <class Params, class Give>
cudaError_t get_params(cudaGraphNode_t handle, void const* out, Give const& give) {
  tracing::support::MutexLock const lock(graphs_mutex);
  Params const* const params = find_params<Params>(handle);
  if (params == nullptr || out == nullptr) return cudaErrorInvalidValue;
  give(*params);
  return cudaSuccess;
}

/// Exchanges the parameters of a node for others of its kind. Kernels keep their attributes. An error for nodes that
/// allocate or free memory.
inline cudaError_t exchange(NodeParams& old, NodeParams& params) {
  if (old.index() != params.index() || std::holds_alternative<AllocNode>(old) || std::holds_alternative<FreeNode>(old))
    return cudaErrorInvalidValue;
  if (auto* const kernel = std::get_if<KernelNode>(&params)) kernel->attributes = std::get<KernelNode>(old).attributes;
  std::swap(old, params);
  return cudaSuccess;
}

/// Gives a node the parameters that `make(NodeParams&)` makes.
template <class Make>
cudaError_t set_params(cudaGraphNode_t handle, Make const& make) {
  auto const node = find_node(handle);
  NodeParams params;
  if (node == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t const error = make(params); error != cudaSuccess) return error;
  tracing::support::MutexLock const lock(graphs_mutex);
  cudaError_t const error = exchange(node->params, params);
  own_child(node->params);
  return error;
}

/// Gives a node of an executable graph other parameters for later launches.
template <class Make>
cudaError_t set_params(cudaGraphExec_t handle, cudaGraphNode_t node, Make const& make) {
  auto const exec = find_exec(handle);
  NodeParams params;
  if (exec == nullptr) return cudaErrorInvalidValue;
  if (cudaError_t const error = make(params); error != cudaSuccess) return error;
  return exec->change_node(node, [&](Node& its) { return exchange(its.params, params); });
}

}  // namespace cuda_cpu::graph
