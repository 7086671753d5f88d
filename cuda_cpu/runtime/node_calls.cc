// Graph management: nodes that launch kernels, copy, set memory and call host functions.
#include "cuda_cpu/runtime/node_calls.h"

#include "cuda_cpu/process/driver.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/launch.h"

namespace cuda_cpu::runtime {
namespace {

using tracing::cuda::Dim3;

Dim3 to_dim3(dim3 value) noexcept { return {value.x, value.y, value.z}; }
dim3 to_dim3(Dim3 value) noexcept { return {value.x, value.y, value.z}; }

// The pointers of the result are valid while the node has these arguments.
cudaKernelNodeParams params_of(KernelNode const& node) {
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(registry().host_function_of(node.function));
  params.gridDim = to_dim3(node.grid);
  params.blockDim = to_dim3(node.block);
  params.sharedMemBytes = node.shared_bytes;
  params.kernelParams = node.arguments->pointers();
  return params;
}

}  // namespace

cudaError_t make_node(cudaKernelNodeParams const* params, NodeParams& node) {
  if (params == nullptr) return cudaErrorInvalidValue;
  CUfunction function = nullptr;
  if (cudaError_t const error = find_function(params->func, &function); error != cudaSuccess) return error;
  if (cudaError_t const error = check_shape(function, params->gridDim, params->blockDim); error != cudaSuccess)
    return error;
  KernelNode kernel;
  CUresult const result = make_kernel_node(function, to_dim3(params->gridDim), to_dim3(params->blockDim),
                                           params->sharedMemBytes, params->kernelParams, params->extra, kernel);
  if (result == CUDA_SUCCESS) node = std::move(kernel);
  return to_error(driver().check(result, "a kernel node"));
}

}  // namespace cuda_cpu::runtime

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                   std::size_t count, cudaKernelNodeParams const* params) {
  return add(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return get<KernelNode>(node, params, [&](KernelNode const& its) { *params = params_of(its); });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, cudaKernelNodeParams const* params) {
  return set(node, from(params));
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaKernelNodeParams const* params) {
  return set(exec, node, from(params));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                   std::size_t count, cudaMemcpy3DParms const* params) {
  return add(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return get<MemcpyNode>(node, params, [&](MemcpyNode const& its) { *params = its.copy; });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, cudaMemcpy3DParms const* params) {
  return set(node, from(params));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaMemcpy3DParms const* params) {
  return set(exec, node, from(params));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                     std::size_t count, void* to, void const* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add(node, graph, dependencies, nullptr, count, from_copy(to, from, bytes, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, void const* from, std::size_t bytes,
                                           cudaMemcpyKind kind) {
  return set(node, from_copy(to, from, bytes, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, void const* from,
                                               std::size_t bytes, cudaMemcpyKind kind) {
  return set(exec, node, from_copy(to, from, bytes, kind));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           cudaGraphNode_t const* dependencies, std::size_t count, void const* symbol,
                                           void const* from, std::size_t bytes, std::size_t offset,
                                           cudaMemcpyKind kind) {
  return add(node, graph, dependencies, nullptr, count, from_copy_to_symbol(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, void const* symbol, void const* from,
                                                 std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set(node, from_copy_to_symbol(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void const* symbol,
                                                     void const* from, std::size_t bytes, std::size_t offset,
                                                     cudaMemcpyKind kind) {
  return set(exec, node, from_copy_to_symbol(symbol, from, bytes, offset, kind));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             cudaGraphNode_t const* dependencies, std::size_t count, void* to,
                                             void const* symbol, std::size_t bytes, std::size_t offset,
                                             cudaMemcpyKind kind) {
  return add(node, graph, dependencies, nullptr, count, from_copy_from_symbol(to, symbol, bytes, offset, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, void const* symbol,
                                                   std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  return set(node, from_copy_from_symbol(to, symbol, bytes, offset, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                       void const* symbol, std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  return set(exec, node, from_copy_from_symbol(to, symbol, bytes, offset, kind));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                   std::size_t count, cudaMemsetParams const* params) {
  return add(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return get<MemsetNode>(node, params, [&](MemsetNode const& its) { *params = its.fill; });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, cudaMemsetParams const* params) {
  return set(node, from(params));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             cudaMemsetParams const* params) {
  return set(exec, node, from(params));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                 std::size_t count, cudaHostNodeParams const* params) {
  return add(node, graph, dependencies, nullptr, count, from(params));
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return get<HostNode>(node, params, [&](HostNode const& its) { *params = {its.function, its.data}; });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, cudaHostNodeParams const* params) {
  return set(node, from(params));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           cudaHostNodeParams const* params) {
  return set(exec, node, from(params));
}

}  // extern "C"
