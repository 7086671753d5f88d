// Graphs. Handles and numbers are the runtime's, so most calls forward to it. Nodes of kernels, copies and memsets have
// structures of their own here.
#include "cuda_cpu/graph/copies.h"
#include "cuda_cpu/graph/node_edits.h"
#include "cuda_cpu/libcuda/libcuda.h"
#include "cuda_cpu/process/registry.h"

using namespace cuda_cpu::libcuda;
using cuda_cpu::graph::KernelNode;
using cuda_cpu::graph::MemcpyNode;
using cuda_cpu::graph::NodeParams;

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
      if (cudaError_t const error = cuda_cpu::process::find_function(its.kern, &function); error != cudaSuccess)
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
    return copy == nullptr ? cudaErrorInvalidValue : static_cast<cudaError_t>(cuda_cpu::graph::make_copy(*copy, node));
  };
}

auto from(CUDA_MEMSET_NODE_PARAMS const* params) {
  return [params](NodeParams& node) {
    if (params == nullptr) return cudaErrorInvalidValue;
    cudaMemsetParams const fill{reinterpret_cast<void*>(params->dst),
                                params->pitch,
                                params->value,
                                params->elementSize,
                                params->width,
                                params->height};
    return make_node(&fill, node);
  };
}

// Returns true for nodes whose parameters differ from the runtime's.
bool is_drivers(CUgraphNodeParams const* params) noexcept {
  return params != nullptr && (params->type == CU_GRAPH_NODE_TYPE_KERNEL || params->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                               params->type == CU_GRAPH_NODE_TYPE_MEMSET);
}
auto from(CUgraphNodeParams const* params) {
  return [params](NodeParams& node) {
    switch (params->type) {
      case CU_GRAPH_NODE_TYPE_KERNEL: {
        auto const& its = params->kernel;
        CUDA_KERNEL_NODE_PARAMS const kernel{its.func,         its.gridDimX,  its.gridDimY,  its.gridDimZ,
                                             its.blockDimX,    its.blockDimY, its.blockDimZ, its.sharedMemBytes,
                                             its.kernelParams, its.extra,     its.kern,      its.ctx};
        return from(&kernel)(node);
      }
      case CU_GRAPH_NODE_TYPE_MEMCPY: return from(&params->memcpy.copyParams)(node);
      default: {
        auto const& its = params->memset;
        CUDA_MEMSET_NODE_PARAMS const fill{its.dst, its.pitch, its.value, its.elementSize, its.width, its.height};
        return from(&fill)(node);
      }
    }
  };
}

// Runs `body` as a call of the runtime.
template <class Body>
CUresult as_call(Body const& body) {
  return forward([&] { return cuda_cpu::process::call(body); });
}

template <class Params>
CUresult add(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, cudaGraphEdgeData const* data,
             std::size_t count, Params const* params) {
  return as_call([&] { return cuda_cpu::graph::add_node(node, graph, dependencies, data, count, from(params)); });
}
template <class Params>
CUresult set(CUgraphNode node, Params const* params) {
  return as_call([&] { return cuda_cpu::graph::set_params(node, from(params)); });
}
template <class Params>
CUresult set(CUgraphExec exec, CUgraphNode node, Params const* params) {
  return as_call([&] { return cuda_cpu::graph::set_params(exec, node, from(params)); });
}

cudaGraphNodeParams* to_runtime(CUgraphNodeParams* params) noexcept {
  return reinterpret_cast<cudaGraphNodeParams*>(params);
}
static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));

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
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, std::size_t* count) {
  return forward(cudaGraphNodeGetDependencies, node, nodes, to_runtime(data), count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, std::size_t* count) {
  return forward(cudaGraphNodeGetDependentNodes, node, nodes, to_runtime(data), count);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, CUgraphNode const* from, CUgraphNode const* to,
                                   CUgraphEdgeData const* data, std::size_t count) {
  return forward(cudaGraphRemoveDependencies, graph, from, to, to_runtime(data), count);
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
  return add(node, graph, dependencies, nullptr, count, params);
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return as_call([&] {
    return cuda_cpu::graph::get_params<KernelNode>(node, params, [&](KernelNode const& its) {
      *params = {its.function, its.grid.x,       its.grid.y,
                 its.grid.z,   its.block.x,      its.block.y,
                 its.block.z,  its.shared_bytes, its.arguments->pointers(),
                 nullptr,      nullptr,          nullptr};
    });
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS const* params) {
  return set(node, params);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, CUDA_KERNEL_NODE_PARAMS const* params) {
  return set(exec, node, params);
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue const* value) {
  return forward(cudaGraphKernelNodeSetAttribute, node, to_runtime(id), to_runtime(value));
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue* value) {
  return forward(cudaGraphKernelNodeGetAttribute, node, to_runtime(id), to_runtime(value));
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return forward(cudaGraphKernelNodeCopyAttributes, to, from);
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                              CUDA_MEMCPY3D const* copy, CUcontext) {
  return add(node, graph, dependencies, nullptr, count, copy);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* copy) {
  cudaMemcpy3DParms params{};
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaGraphMemcpyNodeGetParams, node, &params);
  *copy = {};
  return result == CUDA_SUCCESS ? forward([&] { return cuda_cpu::graph::to_driver(params, *copy); }) : result;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, CUDA_MEMCPY3D const* copy) { return set(node, copy); }
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, CUDA_MEMCPY3D const* copy, CUcontext) {
  return set(exec, node, copy);
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                              CUDA_MEMSET_NODE_PARAMS const* params, CUcontext) {
  return add(node, graph, dependencies, nullptr, count, params);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  cudaMemsetParams its{};
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaGraphMemsetNodeGetParams, node, &its);
  *params = {reinterpret_cast<CUdeviceptr>(its.dst), its.pitch, its.value, its.elementSize, its.width, its.height};
  return result;
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS const* params) {
  return set(node, params);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, CUDA_MEMSET_NODE_PARAMS const* params,
                                        CUcontext) {
  return set(exec, node, params);
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                            CUDA_HOST_NODE_PARAMS const* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaHostNodeParams const host{params->fn, params->userData};
  return forward(cudaGraphAddHostNode, node, graph, dependencies, count, &host);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  cudaHostNodeParams host{};
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaGraphHostNodeGetParams, node, &host);
  *params = {host.fn, host.userData};
  return result;
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS const* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaHostNodeParams const host{params->fn, params->userData};
  return forward(cudaGraphHostNodeSetParams, node, &host);
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, CUDA_HOST_NODE_PARAMS const* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaHostNodeParams const host{params->fn, params->userData};
  return forward(cudaGraphExecHostNodeSetParams, exec, node, &host);
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count) {
  return forward(cudaGraphAddEmptyNode, node, graph, dependencies, count);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                                  CUgraph child) {
  return forward(cudaGraphAddChildGraphNode, node, graph, dependencies, count, child);
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return forward(cudaGraphChildGraphNodeGetGraph, node, graph);
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return forward(cudaGraphExecChildGraphNodeSetParams, exec, node, child);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                                   CUevent event) {
  return forward(cudaGraphAddEventRecordNode, node, graph, dependencies, count, event);
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return forward(cudaGraphEventRecordNodeGetEvent, node, event);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return forward(cudaGraphEventRecordNodeSetEvent, node, event);
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return forward(cudaGraphExecEventRecordNodeSetEvent, exec, node, event);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                                 CUevent event) {
  return forward(cudaGraphAddEventWaitNode, node, graph, dependencies, count, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return forward(cudaGraphEventWaitNodeGetEvent, node, event);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return forward(cudaGraphEventWaitNodeSetEvent, node, event);
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return forward(cudaGraphExecEventWaitNodeSetEvent, exec, node, event);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  cudaMemAllocNodeParams its{};
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  its.bytesize = params->bytesize;
  CUresult const result = forward(cudaGraphAddMemAllocNode, node, graph, dependencies, count, &its);
  params->dptr = reinterpret_cast<CUdeviceptr>(its.dptr);
  return result;
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  cudaMemAllocNodeParams its{};
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaGraphMemAllocNodeGetParams, node, &its);
  *params = {};
  params->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  params->bytesize = its.bytesize;
  params->dptr = reinterpret_cast<CUdeviceptr>(its.dptr);
  return result;
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, std::size_t count,
                               CUdeviceptr memory) {
  return forward(cudaGraphAddMemFreeNode, node, graph, dependencies, count, reinterpret_cast<void*>(memory));
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* memory) {
  return forward(cudaGraphMemFreeNodeGetParams, node, memory);
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, CUgraphNode const* dependencies, CUgraphEdgeData const* data,
                        std::size_t count, CUgraphNodeParams* params) {
  if (!is_drivers(params))
    return forward(cudaGraphAddNode, node, graph, dependencies, to_runtime(data), count, to_runtime(params));
  CUgraphNodeParams const* const its = params;
  return add(node, graph, dependencies, to_runtime(data), count, its);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  CUgraphNodeParams const* const its = params;
  return is_drivers(params) ? set(node, its) : forward(cudaGraphNodeSetParams, node, to_runtime(params));
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  CUgraphNodeParams const* const its = params;
  return is_drivers(params) ? set(exec, node, its)
                            : forward(cudaGraphExecNodeSetParams, exec, node, to_runtime(params));
}

CUresult cuUserObjectCreate(CUuserObject* out, void* object, CUhostFn destroy, unsigned count, unsigned flags) {
  return forward(cudaUserObjectCreate, out, object, destroy, count, flags);
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return forward(cudaUserObjectRetain, object, count);
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return forward(cudaUserObjectRelease, object, count);
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  return forward(cudaGraphRetainUserObject, graph, object, count, flags);
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return forward(cudaGraphReleaseUserObject, graph, object, count);
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return forward([&] { return cudaGraphInstantiate(exec, graph, flags); });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaGraphInstantiateParams its{params->flags, params->hUploadStream, nullptr, {}};
  CUresult const result = forward(cudaGraphInstantiateWithParams, exec, graph, &its);
  params->hErrNode_out = its.errNode_out;
  params->result_out = static_cast<CUgraphInstantiateResult>(its.result_out);
  return result;
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  unsigned long long its = 0;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = forward(cudaGraphExecGetFlags, exec, &its);
  *flags = its;
  return result;
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
