// Graph management: empty nodes, graphs within graphs, events, and nodes that allocate and free memory.
#include "cuda_cpu/graph/graph_memory.h"
#include "cuda_cpu/runtime/node_calls.h"

using namespace cuda_cpu::runtime;
using tracing::support::MutexLock;

namespace {

template <class Params>
auto from_event(cudaEvent_t event) {
  return [event](NodeParams& node) { return make_event_node<Params>(event, node); };
}

cudaMemAllocNodeParams params_of(GraphAllocation const& allocation) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = allocation.bytes;
  params.dptr = reinterpret_cast<void*>(allocation.address);
  return params;
}

}  // namespace

namespace cuda_cpu::runtime {

cudaError_t make_child_node(cudaGraph_t handle, bool moves, NodeParams& node) {
  auto const graph = find_graph(handle);
  MutexLock const lock(graphs_mutex);
  if (graph == nullptr || (moves && (graph->is_owned || graph->is_captured))) return cudaErrorInvalidValue;
  if (!moves && graph->has_memory_nodes())
    return refuse(cudaErrorNotSupported,
                  "a graph with nodes that allocate or free memory has to move into the graph that it becomes "
                  "part of: cudaGraphChildGraphOwnershipMove");
  node = ChildNode{moves ? graph : owned(graph->clone())};  // a graph that moves stays the program's if the call fails
  return cudaSuccess;
}

cudaError_t make_alloc_node(std::size_t bytes, NodeParams& node) {
  auto allocation = bytes == 0 ? nullptr : GraphAllocation::make(bytes);
  if (allocation == nullptr) return bytes == 0 ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
  node = AllocNode{std::move(allocation)};
  return cudaSuccess;
}

cudaError_t make_free_node(void const* memory, NodeParams& node) {
  auto allocation = GraphAllocation::find(reinterpret_cast<CUdeviceptr>(memory));
  if (allocation == nullptr)
    return refuse(cudaErrorInvalidValue, "the memory that a graph frees has to be allocated by a graph");
  node = FreeNode{std::move(allocation)};
  return cudaSuccess;
}

}  // namespace cuda_cpu::runtime

extern "C" {

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                  std::size_t count) {
  return add(node, graph, dependencies, nullptr, count, [](NodeParams& its) {
    its = EmptyNode{};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                       std::size_t count, cudaGraph_t child) {
  return add(node, graph, dependencies, nullptr, count,
             [=](NodeParams& its) { return make_child_node(child, false, its); });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return get<ChildNode>(node, graph, [&](ChildNode const& its) { *graph = its.graph->handle; });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node, cudaGraph_t graph) {
  return call([&]() -> cudaError_t {
    auto const exec = find_exec(handle);
    auto const child = find_graph(graph);
    if (exec == nullptr || child == nullptr) return cudaErrorInvalidValue;
    return exec->change_node(node, [&](Node& its) -> cudaError_t {
      MutexLock const lock(graphs_mutex);
      auto* const old = std::get_if<ChildNode>(&its.params);
      if (old == nullptr) return cudaErrorInvalidValue;
      return update_nodes(*child, *old->graph).result == cudaGraphExecUpdateSuccess
                 ? cudaSuccess
                 : refuse(cudaErrorInvalidValue,
                          "the graph has other nodes or edges than the one that it would replace");
    });
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                        std::size_t count, cudaEvent_t event) {
  return add(node, graph, dependencies, nullptr, count, from_event<EventRecordNode>(event));
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get<EventRecordNode>(node, event, [&](EventRecordNode const& its) { *event = its.event; });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set(node, from_event<EventRecordNode>(event));
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return set(exec, node, from_event<EventRecordNode>(event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                      std::size_t count, cudaEvent_t event) {
  return add(node, graph, dependencies, nullptr, count, from_event<EventWaitNode>(event));
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get<EventWaitNode>(node, event, [&](EventWaitNode const& its) { *event = its.event; });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return set(node, from_event<EventWaitNode>(event));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return set(exec, node, from_event<EventWaitNode>(event));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                     std::size_t count, cudaMemAllocNodeParams* params) {
  if (params == nullptr) return finish(cudaErrorInvalidValue);
  cudaError_t const error = add(node, graph, dependencies, nullptr, count,
                                [=](NodeParams& its) { return make_alloc_node(params->bytesize, its); });
  cudaMemAllocNodeParams added{};
  if (error != cudaSuccess) return error;
  cudaGraphMemAllocNodeGetParams(*node, &added);
  params->dptr = added.dptr;
  return cudaSuccess;
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return get<AllocNode>(node, params, [&](AllocNode const& its) { *params = params_of(*its.allocation); });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                    std::size_t count, void* memory) {
  return add(node, graph, dependencies, nullptr, count, [=](NodeParams& its) { return make_free_node(memory, its); });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return get<FreeNode>(node, out, [&](FreeNode const& its) {
    *static_cast<void**>(out) = reinterpret_cast<void*>(its.allocation->address);
  });
}

}  // extern "C"
