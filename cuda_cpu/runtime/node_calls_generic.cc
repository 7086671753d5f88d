// Graph management: nodes of any kind by one structure, and the attributes of kernels.
#include <fmt/format.h>

#include "cuda_cpu/process/launch_attributes.h"
#include "cuda_cpu/runtime/node_calls.h"

using namespace cuda_cpu::runtime;
using tracing::support::MutexLock;

namespace {

cudaError_t make_any(cudaGraphNodeParams const* params, NodeParams& node) {
  if (params == nullptr) return cudaErrorInvalidValue;
  switch (params->type) {
    case cudaGraphNodeTypeKernel: {
      auto const& its = params->kernel;
      cudaKernelNodeParams const kernel{its.func,           its.gridDim,      its.blockDim,
                                        its.sharedMemBytes, its.kernelParams, its.extra};
      return make_node(&kernel, node);
    }
    case cudaGraphNodeTypeMemcpy: return make_node(&params->memcpy.copyParams, node);
    case cudaGraphNodeTypeMemset: {
      auto const& its = params->memset;
      cudaMemsetParams const fill{its.dst, its.pitch, its.value, its.elementSize, its.width, its.height};
      return make_node(&fill, node);
    }
    case cudaGraphNodeTypeHost: {
      cudaHostNodeParams const host{params->host.fn, params->host.userData};
      return make_node(&host, node);
    }
    case cudaGraphNodeTypeGraph:
      return make_child_node(params->graph.graph, params->graph.ownership == cudaGraphChildGraphOwnershipMove, node);
    case cudaGraphNodeTypeEmpty: node = EmptyNode{}; return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return make_event_node<EventWaitNode>(params->eventWait.event, node);
    case cudaGraphNodeTypeEventRecord: return make_event_node<EventRecordNode>(params->eventRecord.event, node);
    case cudaGraphNodeTypeMemAlloc: return make_alloc_node(params->alloc.bytesize, node);
    case cudaGraphNodeTypeMemFree: return make_free_node(params->free.dptr, node);
    case cudaGraphNodeTypeConditional: return refuse(cudaErrorNotSupported, "graphs have no conditional nodes here");
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
      return refuse(cudaErrorNotSupported,
                    "a node for external semaphores is not supported: there is no memory of other APIs");
    case cudaGraphNodeTypeCount: break;
  }
  return refuse(cudaErrorInvalidValue, fmt::format("there is no node of type {}", static_cast<int>(params->type)));
}

auto from_any(cudaGraphNodeParams const* params) {
  return [params](NodeParams& node) { return make_any(params, node); };
}

bool would_contain_itself(cudaGraph_t graph, cudaGraphNodeParams const* params) {
  if (params == nullptr || params->type != cudaGraphNodeTypeGraph ||
      params->graph.ownership != cudaGraphChildGraphOwnershipMove)
    return false;
  auto const outer = find_graph(graph);
  auto const moved = find_graph(params->graph.graph);
  MutexLock const lock(graphs_mutex);
  return outer != nullptr && moved != nullptr && moved->contains(*outer);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                             cudaGraphEdgeData const* data, std::size_t count, cudaGraphNodeParams* params) {
  if (would_contain_itself(graph, params))
    return finish(refuse(cudaErrorInvalidValue, "a graph cannot move into itself"));
  cudaError_t const error = add(node, graph, dependencies, data, count, from_any(params));
  if (error != cudaSuccess || params->type != cudaGraphNodeTypeMemAlloc) return error;
  cudaMemAllocNodeParams added{};
  cudaError_t const result = cudaGraphMemAllocNodeGetParams(*node, &added);
  params->alloc.dptr = added.dptr;
  return result;
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return set(node, from_any(params));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* params) {
  if (params != nullptr && params->type == cudaGraphNodeTypeGraph)
    return cudaGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
  return set(exec, node, from_any(params));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue const* value) {
  return call([&]() -> cudaError_t {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!is_hint(attribute))
      return refuse(cudaErrorNotSupported,
                    fmt::format("attribute {} of a kernel in a graph is not supported", static_cast<int>(attribute)));
    MutexLock const lock(graphs_mutex);
    auto* const kernel = find_params<KernelNode>(node);
    if (kernel == nullptr) return cudaErrorInvalidValue;
    kernel->attributes[attribute] = *value;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue* value) {
  return get<KernelNode>(node, value, [&](KernelNode const& its) {
    auto const found = its.attributes.find(attribute);
    *value = found == its.attributes.end() ? cudaLaunchAttributeValue{} : found->second;
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return call([&] {
    MutexLock const lock(graphs_mutex);
    auto* const target = find_params<KernelNode>(to);
    auto const* const source = find_params<KernelNode>(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidValue;
    target->attributes = source->attributes;
    return cudaSuccess;
  });
}

}  // extern "C"
