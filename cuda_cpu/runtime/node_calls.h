// Shared by the calls about nodes: add, get and set a node as a call, and make nodes from the arguments of calls.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/node_edits.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::runtime {

// As add_node(), get_params() and set_params().
template <class Make>
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                cudaGraphEdgeData const* data, std::size_t count, Make const& make) noexcept {
  return call([&] { return add_node(out, graph, dependencies, data, count, make); });
}
template <class Params, class Give>
cudaError_t get(cudaGraphNode_t node, void const* out, Give const& give) noexcept {
  return call([&] { return get_params<Params>(node, out, give); });
}
template <class Make>
cudaError_t set(cudaGraphNode_t node, Make const& make) noexcept {
  return call([&] { return set_params(node, make); });
}
template <class Make>
cudaError_t set(cudaGraphExec_t exec, cudaGraphNode_t node, Make const& make) noexcept {
  return call([&] { return set_params(exec, node, make); });
}

// Make nodes from further arguments of the runtime's calls, and check these; see also graph_nodes.h.

/// Makes a node that launches a registered kernel.
cudaError_t make_node(cudaKernelNodeParams const* params, NodeParams& node);
/// Makes a node with a copy of the graph, or with the graph itself if it moves into the node.
cudaError_t make_child_node(cudaGraph_t graph, bool moves, NodeParams& node);
cudaError_t make_alloc_node(std::size_t bytes, NodeParams& node);
cudaError_t make_free_node(void const* memory, NodeParams& node);
template <class Params>
cudaError_t make_event_node(cudaEvent_t event, NodeParams& node) {
  node = Params{event};
  return cpu::Device::get()->events.find(event) == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

/// Returns a function that makes a node from a structure of a call.
template <class Params>
auto from(Params const* params) {
  return [params](NodeParams& node) { return make_node(params, node); };
}

// Return functions that make a node of a linear copy: between memory, or to or from a variable of the device.
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
