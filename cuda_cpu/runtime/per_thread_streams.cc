// Entry points of programs compiled with --default-stream per-thread: stream 0 is the thread's own.
// Written by renew_names.py.
#include "cuda_cpu/runtime/runtime.h"

using cuda_cpu::runtime::PerThreadStreams;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // some of those that are called here

extern "C" {

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  PerThreadStreams const scope;
  return cudaEventRecordWithFlags(event, stream, flags);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaEventRecord(event, stream);
}

cudaError_t cudaFreeAsync_ptsz(void* devPtr, cudaStream_t hStream) {
  PerThreadStreams const scope;
  return cudaFreeAsync(devPtr, hStream);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(char const* symbol, void** funcPtr, unsigned int cudaVersion,
                                                  unsigned long long flags,
                                                  enum cudaDriverEntryPointQueryResult* driverStatus) {
  PerThreadStreams const scope;
  return cudaGetDriverEntryPointByVersion(symbol, funcPtr, cudaVersion, flags, driverStatus);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(char const* symbol, void** funcPtr, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult* driverStatus) {
  PerThreadStreams const scope;
  return cudaGetDriverEntryPoint(symbol, funcPtr, flags, driverStatus);
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* instantiateParams) {
  PerThreadStreams const scope;
  return cudaGraphInstantiateWithParams(pGraphExec, graph, instantiateParams);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaGraphLaunch(graphExec, stream);
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t graphExec, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaGraphUpload(graphExec, stream);
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(void const* func, dim3 gridDim, dim3 blockDim, void** args,
                                             size_t sharedMem, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaLaunchCooperativeKernel(func, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
  PerThreadStreams const scope;
  return cudaLaunchHostFunc(stream, fn, userData);
}

cudaError_t cudaLaunchKernelExC_ptsz(cudaLaunchConfig_t const* config, void const* func, void** args) {
  PerThreadStreams const scope;
  return cudaLaunchKernelExC(config, func, args);
}

cudaError_t cudaLaunchKernel_ptsz(void const* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                  cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaLaunchKernel(func, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t cudaMallocAsync_ptsz(void** devPtr, size_t size, cudaStream_t hStream) {
  PerThreadStreams const scope;
  return cudaMallocAsync(devPtr, size, hStream);
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}

cudaError_t cudaMemPrefetchAsync_ptsz(void const* devPtr, size_t count, struct cudaMemLocation location,
                                      unsigned int flags, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemPrefetchAsync(devPtr, count, location, flags, stream);
}

cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                          size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                          enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpy2DArrayToArray(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind);
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* dst, size_t dpitch, void const* src, size_t spitch, size_t width,
                                   size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemcpy2DAsync(dst, dpitch, src, spitch, width, height, kind, stream);
}

cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                            size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                            cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemcpy2DFromArrayAsync(dst, dpitch, src, wOffset, hOffset, width, height, kind, stream);
}

cudaError_t cudaMemcpy2DFromArray_ptds(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                       size_t width, size_t height, enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpy2DFromArray(dst, dpitch, src, wOffset, hOffset, width, height, kind);
}

cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t dst, size_t wOffset, size_t hOffset, void const* src,
                                          size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemcpy2DToArrayAsync(dst, wOffset, hOffset, src, spitch, width, height, kind, stream);
}

cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t dst, size_t wOffset, size_t hOffset, void const* src, size_t spitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpy2DToArray(dst, wOffset, hOffset, src, spitch, width, height, kind);
}

cudaError_t cudaMemcpy2D_ptds(void* dst, size_t dpitch, void const* src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpy2D(dst, dpitch, src, spitch, width, height, kind);
}

cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms* p, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemcpy3DAsync(p, stream);
}

cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms* p) {
  PerThreadStreams const scope;
  return cudaMemcpy3D(p);
}

cudaError_t cudaMemcpyAsync_ptsz(void* dst, void const* src, size_t count, enum cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemcpyAsync(dst, src, count, kind, stream);
}

cudaError_t cudaMemcpyFromArray_ptds(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                     enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpyFromArray(dst, src, wOffset, hOffset, count, kind);
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* dst, void const* symbol, size_t count, size_t offset,
                                           enum cudaMemcpyKind kind, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemcpyFromSymbolAsync(dst, symbol, count, offset, kind, stream);
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* dst, void const* symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpyFromSymbol(dst, symbol, count, offset, kind);
}

cudaError_t cudaMemcpyToArray_ptds(cudaArray_t dst, size_t wOffset, size_t hOffset, void const* src, size_t count,
                                   enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpyToArray(dst, wOffset, hOffset, src, count, kind);
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(void const* symbol, void const* src, size_t count, size_t offset,
                                         enum cudaMemcpyKind kind, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemcpyToSymbolAsync(symbol, src, count, offset, kind, stream);
}

cudaError_t cudaMemcpyToSymbol_ptds(void const* symbol, void const* src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpyToSymbol(symbol, src, count, offset, kind);
}

cudaError_t cudaMemcpy_ptds(void* dst, void const* src, size_t count, enum cudaMemcpyKind kind) {
  PerThreadStreams const scope;
  return cudaMemcpy(dst, src, count, kind);
}

cudaError_t cudaMemset2DAsync_ptsz(void* devPtr, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemset2DAsync(devPtr, pitch, value, width, height, stream);
}

cudaError_t cudaMemset2D_ptds(void* devPtr, size_t pitch, int value, size_t width, size_t height) {
  PerThreadStreams const scope;
  return cudaMemset2D(devPtr, pitch, value, width, height);
}

cudaError_t cudaMemset3DAsync_ptsz(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                                   cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemset3DAsync(pitchedDevPtr, value, extent, stream);
}

cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent) {
  PerThreadStreams const scope;
  return cudaMemset3D(pitchedDevPtr, value, extent);
}

cudaError_t cudaMemsetAsync_ptsz(void* devPtr, int value, size_t count, cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaMemsetAsync(devPtr, value, count, stream);
}

cudaError_t cudaMemset_ptds(void* devPtr, int value, size_t count) {
  PerThreadStreams const scope;
  return cudaMemset(devPtr, value, count);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void* userData,
                                       unsigned int flags) {
  PerThreadStreams const scope;
  return cudaStreamAddCallback(stream, callback, userData, flags);
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* devPtr, size_t length, unsigned int flags) {
  PerThreadStreams const scope;
  return cudaStreamAttachMemAsync(stream, devPtr, length, flags);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               cudaGraphNode_t const* dependencies,
                                               cudaGraphEdgeData const* dependencyData, size_t numDependencies,
                                               enum cudaStreamCaptureMode mode) {
  PerThreadStreams const scope;
  return cudaStreamBeginCaptureToGraph(stream, graph, dependencies, dependencyData, numDependencies, mode);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  PerThreadStreams const scope;
  return cudaStreamBeginCapture(stream, mode);
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t dstStream, cudaStream_t srcStream) {
  PerThreadStreams const scope;
  return cudaStreamCopyAttributes(dstStream, srcStream);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* pGraph) {
  PerThreadStreams const scope;
  return cudaStreamEndCapture(stream, pGraph);
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attr, cudaStreamAttrValue* value) {
  PerThreadStreams const scope;
  return cudaStreamGetAttribute(stream, attr, value);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus* captureStatus_out,
                                          unsigned long long* id_out, cudaGraph_t* graph_out,
                                          cudaGraphNode_t const** dependencies_out,
                                          cudaGraphEdgeData const** edgeData_out, size_t* numDependencies_out) {
  PerThreadStreams const scope;
  return cudaStreamGetCaptureInfo(stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                                  numDependencies_out);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t hStream, int* device) {
  PerThreadStreams const scope;
  return cudaStreamGetDevice(hStream, device);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t hStream, unsigned int* flags) {
  PerThreadStreams const scope;
  return cudaStreamGetFlags(hStream, flags);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t hStream, unsigned long long* streamId) {
  PerThreadStreams const scope;
  return cudaStreamGetId(hStream, streamId);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t hStream, int* priority) {
  PerThreadStreams const scope;
  return cudaStreamGetPriority(hStream, priority);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus* pCaptureStatus) {
  PerThreadStreams const scope;
  return cudaStreamIsCapturing(stream, pCaptureStatus);
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaStreamQuery(stream);
}

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attr, cudaStreamAttrValue const* param) {
  PerThreadStreams const scope;
  return cudaStreamSetAttribute(stream, attr, param);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  PerThreadStreams const scope;
  return cudaStreamSynchronize(stream);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                     cudaGraphEdgeData const* dependencyData, size_t numDependencies,
                                                     unsigned int flags) {
  PerThreadStreams const scope;
  return cudaStreamUpdateCaptureDependencies(stream, dependencies, dependencyData, numDependencies, flags);
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  PerThreadStreams const scope;
  return cudaStreamWaitEvent(stream, event, flags);
}

}  // extern "C"
