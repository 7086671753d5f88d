// Stream management: capture, which graph/capture.h describes.
#define TRACE_TARGET "tracing::cuda::launch"
#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::runtime;

namespace {

char const* name_of(cudaStreamCaptureMode mode) noexcept {
  switch (mode) {
    case cudaStreamCaptureModeGlobal: return "global";
    case cudaStreamCaptureModeThreadLocal: return "thread_local";
    case cudaStreamCaptureModeRelaxed: return "relaxed";
  }
  return "unknown";
}

cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode, cudaGraph_t graph, cudaGraphNode_t const* nodes,
                  cudaGraphEdgeData const* data, std::size_t count) {
  CUstream const stream = stream_of(handle);
  TRACE_SPAN(trace, "stream_begin_capture", tracing::kv("stream", driver().number_of(stream)),
             tracing::kv("mode", name_of(mode)));
  return begin_capture(stream, mode, graph, nodes, data, count);
}

std::size_t count_nodes(cudaGraph_t handle) {
  auto const graph = find_graph(handle);
  tracing::support::MutexLock const lock(graphs_mutex);
  return graph == nullptr ? 0 : graph->nodes().size();
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&] { return begin(stream, mode, nullptr, nullptr, nullptr, 0); });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                          cudaGraphEdgeData const* data, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return call(
      [&] { return graph == nullptr ? cudaErrorInvalidValue : begin(stream, mode, graph, dependencies, data, count); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] {
    CUstream const its = stream_of(stream);
    tracing::Span const span =
        TRACE_MAKE_SPAN(trace, "stream_end_capture", tracing::kv("stream", driver().number_of(its)),
                        tracing::kv("nodes", tracing::empty));
    auto const entered = span.enter();
    cudaError_t const error = end_capture(its, graph);
    if (error == cudaSuccess && !span.is_disabled()) span.record(tracing::kv("nodes", count_nodes(*graph)));
    return error;
  });
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
