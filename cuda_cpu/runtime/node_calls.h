// What the calls about nodes share: how a node is looked up, added and replaced.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <utility>
#include <variant>

#include "cuda_cpu/runtime/copies.h"
#include "cuda_cpu/runtime/graph.h"
#include "cuda_cpu/runtime/graph_exec.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::runtime {

/// Adds the node that `make` makes.
cudaError_t add_node(cudaGraphNode_t* out, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                     cudaGraphEdgeData const* data, std::size_t count,
                     std::function<cudaError_t(NodeParams&)> const& make) noexcept;

/// Gives the parameters of a node to `give(Params const&)`.
template <class Params, class Give>
cudaError_t get_params(cudaGraphNode_t handle, void const* out, Give const& give) noexcept {
  return call([&]() -> cudaError_t {
    tracing::internal::MutexLock const lock(graphs_mutex);
    Params const* const params = find_params<Params>(handle);
    if (params == nullptr || out == nullptr) return cudaErrorInvalidValue;
    give(*params);
    return cudaSuccess;
  });
}

/// Exchanges the parameters of a node for those of the same kind. Kernels keep their attributes, and nodes their
/// memory.
inline cudaError_t exchange(NodeParams& old, NodeParams& params) {
  if (old.index() != params.index() || std::holds_alternative<AllocNode>(old) || std::holds_alternative<FreeNode>(old))
    return cudaErrorInvalidValue;
  if (auto* const kernel = std::get_if<KernelNode>(&params)) kernel->attributes = std::get<KernelNode>(old).attributes;
  std::swap(old, params);
  return cudaSuccess;
}

/// The node gets what `make(NodeParams&)` makes.
template <class Make>
cudaError_t set_params(cudaGraphNode_t handle, Make const& make) noexcept {
  return call([&]() -> cudaError_t {
    auto const node = find_node(handle);
    NodeParams params;
    if (node == nullptr) return cudaErrorInvalidValue;
    if (cudaError_t const error = make(params); error != cudaSuccess) return error;
    tracing::internal::MutexLock const lock(graphs_mutex);
    cudaError_t const error = exchange(node->params, params);
    own_child(node->params);
    return error;
  });
}

/// The same in an executable graph, for its later launches.
template <class Make>
cudaError_t set_params(cudaGraphExec_t handle, cudaGraphNode_t node, Make const& make) noexcept {
  return call([&]() -> cudaError_t {
    auto const exec = find_exec(handle);
    NodeParams params;
    if (exec == nullptr) return cudaErrorInvalidValue;
    if (cudaError_t const error = make(params); error != cudaSuccess) return error;
    return exec->change_node(node, [&](Node& its) { return exchange(its.params, params); });
  });
}

// Nodes of what the calls take besides the structures of graph_nodes.h.

/// Of a copy of the graph, or of the graph itself if it moves into the node.
cudaError_t make_child_node(cudaGraph_t graph, bool moves, NodeParams& node);
cudaError_t make_alloc_node(std::size_t bytes, NodeParams& node);
cudaError_t make_free_node(void const* memory, NodeParams& node);
template <class Params>
cudaError_t make_event_node(cudaEvent_t event, NodeParams& node) {
  node = Params{event};
  return cpu::Device::get()->events.find(event) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

/// A function that makes a node of parameters as the calls take them.
template <class Params>
auto from(Params const* params) {
  return [params](NodeParams& node) { return make_node(params, node); };
}

// Functions that make a node of a linear copy, of memory or of a variable of the device.
inline auto from_copy(void* to, void const* from_memory, std::size_t bytes, cudaMemcpyKind kind) {
  return [=](NodeParams& node) {
    MemcpyNode const copy = linear_copy(to, from_memory, bytes, kind);
    return make_node(&copy.copy, node);
  };
}
inline auto from_copy_to_symbol(void const* symbol, void const* from_memory, std::size_t bytes, std::size_t offset,
                                cudaMemcpyKind kind) {
  return [=](NodeParams& node) {
    std::byte* to = nullptr;
    cudaError_t const error = at_symbol(symbol, bytes, offset, &to);
    return error == cudaSuccess ? from_copy(to, from_memory, bytes, kind)(node) : error;
  };
}
inline auto from_copy_from_symbol(void* to, void const* symbol, std::size_t bytes, std::size_t offset,
                                  cudaMemcpyKind kind) {
  return [=](NodeParams& node) {
    std::byte* memory = nullptr;
    cudaError_t const error = at_symbol(symbol, bytes, offset, &memory);
    return error == cudaSuccess ? from_copy(to, memory, bytes, kind)(node) : error;
  };
}

}  // namespace cuda_cpu::runtime
