// Graphs: the runtime's calls, which have the same handles and numbers; nodes of kernels, copies and memsets have
// structures of their own here.
#include "cuda_cpu/libcuda/libcuda.h"
#include "cuda_cpu/runtime/node_calls.h"
#include "cuda_cpu/runtime/registry.h"

using namespace cuda_cpu::libcuda;
using cuda_cpu::runtime::KernelNode;
using cuda_cpu::runtime::NodeParams;

namespace {

cudaGraphEdgeData const* to_runtime(CUgraphEdgeData const* data) noexcept {
  return reinterpret_cast<cudaGraphEdgeData const*>(data);
}
cudaGraphEdgeData* to_runtime(CUgraphEdgeData* data) noexcept { return reinterpret_cast<cudaGraphEdgeData*>(data); }
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));

auto from(CUDA_KERNEL_NODE_PARAMS const* params) {
  return [params](NodeParams& node) {
    if (params == nullptr) return cudaErrorInvalidValue;
    auto const& its = *params;
    CUfunction function = its.func;
    if (function == nullptr && its.kern != nullptr)
      if (cudaError_t const error = cuda_cpu::runtime::find_function(its.kern, &function); error != cudaSuccess)
        return error;
    return static_cast<cudaError_t>(
        check(make_kernel_node(function, {its.gridDimX, its.gridDimY, its.gridDimZ},
                               {its.blockDimX, its.blockDimY, its.blockDimZ}, its.sharedMemBytes, its.kernelParams,
                               its.extra, node.emplace<KernelNode>()),
              "a kernel node"));
  };
}

auto from(CUDA_MEMCPY3D const* copy) {
  return [copy](NodeParams& node) {
    return copy == nullptr ? cudaErrorInvalidValue
                           : static_cast<cudaError_t>(cuda_cpu::runtime::make_copy(*copy, node));
  };
}

auto from(CUDA_MEMSET_NODE_PARAMS const* params) {
  return [params](NodeParams& node) {
    if (params == nullptr) return cudaErrorInvalidValue;
    cudaMemsetParams const fill{reinterpret_cast<void*>(params->dst), params->pitch, params->value, params->elementSize,
                                params->width, params->height};
    return make_node(&fill, node);
  };
}

template <class Params>
CUresult add(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
             Params const* params) {
  return forward([&] { return cuda_cpu::runtime::add_node(node, graph, dependencies, nullptr, count, from(params)); });
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return forward(cudaStreamBeginCapture, stream, static_cast<cudaStreamCaptureMode>(mode));
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, CUgraphNode const* dependencies,
                                     CUgraphEdgeData const* data, std::size_t count, CUstreamCaptureMode mode) {
  return forward(cudaStreamBeginCaptureToGraph, stream, graph, dependencies, to_runtime(data), count,
                 static_cast<cudaStreamCaptureMode>(mode));
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) { return forward(cudaStreamEndCapture, stream, graph); }
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                CUgraphNode const** dependencies, CUgraphEdgeData const** data, std::size_t* count) {
  unsigned long long number = 0;
  cudaStreamCaptureStatus its = cudaStreamCaptureStatusNone;
  cudaGraphEdgeData const* edges = nullptr;
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaStreamGetCaptureInfo, stream, &its, &number, graph, dependencies,
                                  data == nullptr ? nullptr : &edges, count);
  *status = static_cast<CUstreamCaptureStatus>(its);
  if (id != nullptr) *id = number;
  if (data != nullptr) *data = reinterpret_cast<CUgraphEdgeData const*>(edges);
  return result;
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies, CUgraphEdgeData const* data,
                                           std::size_t count, unsigned flags) {
  return forward(cudaStreamUpdateCaptureDependencies, stream, dependencies, to_runtime(data), count, flags);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return forward(cudaThreadExchangeStreamCaptureMode, reinterpret_cast<cudaStreamCaptureMode*>(mode));
}

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) { return forward(cudaGraphCreate, graph, flags); }
CUresult cuGraphDestroy(CUgraph graph) { return forward(cudaGraphDestroy, graph); }
CUresult cuGraphClone(CUgraph* clone, CUgraph original) { return forward(cudaGraphClone, clone, original); }
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  return forward(cudaGraphNodeFindInClone, node, original, clone);
}
CUresult cuGraphDestroyNode(CUgraphNode node) { return forward(cudaGraphDestroyNode, node); }
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return forward(cudaGraphNodeGetType, node, reinterpret_cast<cudaGraphNodeType*>(type));
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return forward(cudaGraphGetNodes, graph, nodes, count);
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return forward(cudaGraphGetRootNodes, graph, nodes, count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, std::size_t* count) {
  return forward(cudaGraphGetEdges, graph, from, to, to_runtime(data), count);
}
CUresult cuGraphAddDependencies(CUgraph graph, CUgraphNode const* from, CUgraphNode const* to,
                                CUgraphEdgeData const* data, std::size_t count) {
  return forward(cudaGraphAddDependencies, graph, from, to, to_runtime(data), count);
}
CUresult cuGraphDebugDotPrint(CUgraph graph, char const* path, unsigned flags) {
  return forward(cudaGraphDebugDotPrint, graph, path, flags);
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                              CUDA_KERNEL_NODE_PARAMS const* params) {
  return add(node, graph, dependencies, count, params);
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return forward([&] {
    return cuda_cpu::runtime::get_params<KernelNode>(node, params, [&](KernelNode const& its) {
      *params = {its.function, its.grid.x,       its.grid.y,
                 its.grid.z,   its.block.x,      its.block.y,
                 its.block.z,  its.shared_bytes, its.arguments->pointers(),
                 nullptr,      nullptr,          nullptr};
    });
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS const* params) {
  return forward([&] { return cuda_cpu::runtime::set_params(node, from(params)); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS const* params) {
  return forward([&] { return cuda_cpu::runtime::set_params(exec, node, from(params)); });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                              CUDA_MEMCPY3D const* copy, CUcontext) {
  return add(node, graph, dependencies, count, copy);
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                              CUDA_MEMSET_NODE_PARAMS const* params, CUcontext) {
  return add(node, graph, dependencies, count, params);
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                            CUDA_HOST_NODE_PARAMS const* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaHostNodeParams const host{params->fn, params->userData};
  return forward(cudaGraphAddHostNode, node, graph, dependencies, count, &host);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count) {
  return forward(cudaGraphAddEmptyNode, node, graph, dependencies, count);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                                  CUgraph child) {
  return forward(cudaGraphAddChildGraphNode, node, graph, dependencies, count, child);
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return forward([&] { return cudaGraphInstantiate(exec, graph, flags); });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) { return forward(cudaGraphExecDestroy, exec); }
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) { return forward(cudaGraphUpload, exec, stream); }
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) { return forward(cudaGraphLaunch, exec, stream); }
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  cudaGraphExecUpdateResultInfo its{};
  if (info == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaGraphExecUpdate, exec, graph, &its);
  *info = {static_cast<CUgraphExecUpdateResult>(its.result), its.errorNode, its.errorFromNode};
  return result;
}
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned is_enabled) {
  return forward(cudaGraphNodeSetEnabled, exec, node, is_enabled);
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* is_enabled) {
  return forward(cudaGraphNodeGetEnabled, exec, node, is_enabled);
}

}  // extern "C"
