#include "cuda_cpu/graph/capture.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/capture_state.h"
#include "cuda_cpu/graph/errors.h"

namespace cuda_cpu::graph {
namespace {

using tracing::support::MutexLock;

CUresult add_node(CapturedStream& stream, MakeNode const& make) TRACING_REQUIRES(graphs_mutex) {
  if (stream.capture->is_invalid) return invalidated();
  NodeParams params;
  if (CUresult const result = make(params); result != CUDA_SUCCESS) {
    stream.capture->is_invalid = true;
    return result;
  }
  Node& node = stream.capture->graph->add(std::move(params), stream.frontier);
  stream.frontier = {{&node, {}}};
  return CUDA_SUCCESS;
}

// Returns true if every node is in `ends`, or a node in `ends` waits for it, directly or through others.
bool are_joined(Frontier const& nodes, Frontier const& ends) {
  std::set<Node const*> seen;
  std::vector<Node const*> open;
  for (Edge const& edge : ends) open.push_back(edge.node);
  while (!open.empty()) {
    Node const* const node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    for (Edge const& edge : node->dependencies) open.push_back(edge.node);
  }
  return std::ranges::all_of(nodes, [&](Edge const& edge) { return seen.contains(edge.node); });
}

cudaError_t result_of(GraphCapture const& capture, CapturedStream const& origin) TRACING_REQUIRES(graphs_mutex) {
  if (capture.is_invalid) return to_error(invalidated());
  for (auto const& [stream, its] : captures().streams) {
    if (its.capture.get() != &capture || are_joined(its.frontier, origin.frontier)) continue;
    return to_error(cpu::refuse(
        CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
        "a stream that joined the capture by an event has work that the first stream does not wait for; record "
        "an event in it and let the first stream wait for that"));
  }
  return cudaSuccess;
}

// Ends the capture. Returns its graph, which the caller drops after it has unlocked graphs_mutex.
std::shared_ptr<Graph> close(GraphCapture& capture) TRACING_REQUIRES(graphs_mutex) {
  std::erase_if(captures().streams, [&](auto const& entry) { return entry.second.capture.get() == &capture; });
  for (auto& [handle, event] : captures().events)
    if (event.capture.get() == &capture) event.frontier.clear();
  active_captures.fetch_sub(1, std::memory_order_relaxed);
  capture.graph->is_captured = false;
  return std::move(capture.graph);
}

}  // namespace

CUresult capture_or(CUstream handle, MakeNode const& make, std::function<CUresult()> const& work) {
  if (auto const stream = stream_at(handle)) {  // for an unknown stream `work` fails
    MutexLock const lock(graphs_mutex);
    if (CapturedStream* const its = captures().find(stream)) return add_node(*its, make);
    if (CUresult const result = check_default_stream(stream); result != CUDA_SUCCESS) return result;
  }
  return work();
}

CUresult capture_info(CUstream handle, CaptureInfo& info) {
  info = {};
  auto const stream = stream_at(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  MutexLock const lock(graphs_mutex);
  if (is_default(stream)) {
    for (auto const& [key, other] : captures().streams)
      if (other.stream->is_blocking) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  CapturedStream* const its = captures().find(stream);
  if (its == nullptr) return CUDA_SUCCESS;
  its->nodes.clear();
  its->edges.clear();
  for (Edge const& edge : its->frontier) {
    its->nodes.push_back(edge.node->handle);
    its->edges.push_back(edge.data);
  }
  info.status = its->capture->is_invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  info.id = its->capture->id;
  info.graph = its->capture->graph->handle;
  info.nodes = &its->nodes;
  info.edges = &its->edges;
  return CUDA_SUCCESS;
}

cudaError_t begin_capture(CUstream handle, cudaStreamCaptureMode mode, cudaGraph_t given, cudaGraphNode_t const* nodes,
                          cudaGraphEdgeData const* data, std::size_t count) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
  auto const stream = stream_at(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (is_default(stream))
    return refuse(cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured; use another stream");
  MutexLock const lock(graphs_mutex);
  if (captures().find(stream) != nullptr) return refuse(cudaErrorIllegalState, "the stream is being captured already");
  auto capture = std::make_shared<GraphCapture>();
  capture->graph = given == nullptr ? make_graph() : find_graph(given);
  Frontier frontier;
  if (capture->graph == nullptr || capture->graph->is_captured ||
      !read_nodes(*capture->graph, nodes, data, count, frontier))
    return refuse(cudaErrorInvalidValue, "not a graph to capture into, or not nodes of it");
  capture->makes_graph = given == nullptr;
  capture->graph->is_captured = true;
  capture->id = ++captures().last_id;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  captures().streams.emplace(stream.get(), CapturedStream{stream, std::move(capture), std::move(frontier)});
  active_captures.fetch_add(1, std::memory_order_relaxed);
  return cudaSuccess;
}

cudaError_t end_capture(CUstream handle, cudaGraph_t* graph) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  *graph = nullptr;
  auto const stream = stream_at(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  std::shared_ptr<Graph> captured;
  MutexLock const lock(graphs_mutex);
  CapturedStream const* const its = captures().find(stream);
  if (its == nullptr) return refuse(cudaErrorIllegalState, "the stream is not being captured");
  auto const capture = its->capture;
  if (capture->origin != stream)
    return refuse(cudaErrorStreamCaptureUnmatched, "the capture began in another stream, which has to end it");
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
    return refuse(
        cudaErrorStreamCaptureWrongThread,
        "the capture began on another thread, which has to end it unless its mode is cudaStreamCaptureModeRelaxed");
  cudaError_t const error = result_of(*capture, *its);
  captured = close(*capture);
  if (error == cudaSuccess) {
    *graph = captured->handle;
    return error;
  }
  if (capture->makes_graph) take_graph(captured->handle);
  return refuse(error, cpu_driver_last_message());
}

cudaError_t update_frontier(CUstream handle, cudaGraphNode_t const* nodes, cudaGraphEdgeData const* data,
                            std::size_t count, bool replaces) {
  auto const stream = stream_at(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  MutexLock const lock(graphs_mutex);
  CapturedStream* const its = captures().find(stream);
  if (its == nullptr) return refuse(cudaErrorIllegalState, "the stream is not being captured");
  if (its->capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  Frontier further;
  if (!read_nodes(*its->capture->graph, nodes, data, count, further)) return cudaErrorInvalidValue;
  if (replaces) its->frontier.clear();
  add_to(its->frontier, further);
  return cudaSuccess;
}

void end_all_captures() {
  std::vector<std::shared_ptr<Graph>> dropped;
  MutexLock const lock(graphs_mutex);
  auto& all = captures();
  while (!all.streams.empty()) {
    auto const capture = all.streams.begin()->second.capture;
    dropped.push_back(close(*capture));
    if (capture->makes_graph) take_graph(dropped.back()->handle);
  }
  all.events.clear();
  captured_events.store(0, std::memory_order_relaxed);
}

}  // namespace cuda_cpu::graph
