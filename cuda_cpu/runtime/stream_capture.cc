// Stream management: capture, as defined in capture.h.
#include "cuda_cpu/runtime/capture.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] { return begin_capture(stream_of(stream), mode, nullptr, nullptr, nullptr, 0); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                          cudaGraphEdgeData const* data, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return call([&] {
    return graph == nullptr ? cudaErrorInvalidValue
                            : begin_capture(stream_of(stream), mode, graph, dependencies, data, count);
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] { return end_capture(stream_of(stream), graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&] {
    CaptureInfo info;
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult const result = capture_info(stream_of(stream), info);
    *status = info.status;
    return result;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, cudaGraphNode_t const** dependencies,
                                     cudaGraphEdgeData const** data, std::size_t* count) {
  return call([&]() -> cudaError_t {
    CaptureInfo info;
    if (status == nullptr || (data != nullptr && dependencies == nullptr)) return cudaErrorInvalidValue;
    if (CUresult const result = capture_info(stream_of(stream), info); result != CUDA_SUCCESS) return to_error(result);
    *status = info.status;
    if (info.status != cudaStreamCaptureStatusActive) return cudaSuccess;
    if (dependencies != nullptr && data == nullptr) {
      for (cudaGraphEdgeData const& its : *info.edges)
        if (its.type != 0 || its.from_port != 0 || its.to_port != 0) return cudaErrorLossyQuery;
    }
    if (id != nullptr) *id = info.id;
    if (graph != nullptr) *graph = info.graph;
    if (dependencies != nullptr) *dependencies = info.nodes->data();
    if (data != nullptr) *data = info.edges->data();
    if (count != nullptr) *count = info.nodes->size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                cudaGraphEdgeData const* data, std::size_t count, unsigned flags) {
  return call([&] {
    if (flags > cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
    return update_frontier(stream_of(stream), dependencies, data, count, flags == cudaStreamSetCaptureDependencies);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&] {
    if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
      return cudaErrorInvalidValue;
    *mode = exchange_mode(*mode);
    return cudaSuccess;
  });
}

}  // extern "C"
