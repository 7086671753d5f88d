// Captures: the state of all captures, which the source files of captures share.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/graph.h"

namespace cuda_cpu::graph {

struct GraphCapture {
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  cpu::Streams::Handle origin;
  std::shared_ptr<Graph> graph;  // null when it is over
  bool makes_graph = true;       // false: the program gave it
  bool is_invalid = false;
};

using Frontier = std::vector<Edge>;

struct CapturedStream {
  cpu::Streams::Handle stream;
  std::shared_ptr<GraphCapture> capture;
  Frontier frontier;
  // The arrays of CaptureInfo.
  std::vector<cudaGraphNode_t> nodes{};
  std::vector<cudaGraphEdgeData> edges{};
};

struct CapturedEvent {
  std::shared_ptr<GraphCapture> capture;
  Frontier frontier;  // empty once the capture is over
};

struct Captures {
  std::unordered_map<cpu::Stream const*, CapturedStream> streams;
  std::unordered_map<CUevent, CapturedEvent> events;
  unsigned long long last_id = 0;

  /// Returns null if the stream is not captured.
  CapturedStream* find(cpu::Streams::Handle const& stream) {
    auto const found = streams.find(stream.get());
    return found == streams.end() ? nullptr : &found->second;
  }
  /// Returns null unless the latest recording of the event is in a capture.
  CapturedEvent* find(CUevent event) {
    auto const found = events.find(event);
    return found == events.end() ? nullptr : &found->second;
  }
  /// Invalidates the captures of the streams that match. Returns false if no stream matches.
  template <class Matches>
  bool invalidate_if(Matches const& matches) {
    bool any = false;
    for (auto& [stream, its] : streams) {
      if (!matches(its)) continue;
      its.capture->is_invalid = true;
      any = true;
    }
    return any;
  }
};
Captures& captures() TRACING_REQUIRES(graphs_mutex);

inline cpu::Streams::Handle stream_at(CUstream handle) { return cpu::Device::get()->find_stream(handle); }
inline bool is_default(cpu::Streams::Handle const& stream) { return stream == cpu::Device::get()->streams.legacy(); }

/// Returns an error, and invalidates the captures, if `stream` is the default stream while blocking streams are
/// captured: the default stream and the blocking streams wait for each other.
CUresult check_default_stream(cpu::Streams::Handle const& stream) TRACING_REQUIRES(graphs_mutex);

CUresult invalidated();
/// Invalidates the capture and returns `code`, explained.
CUresult fail(GraphCapture& capture, CUresult code, std::string message);
void add_to(Frontier& frontier, Frontier const& further);

}  // namespace cuda_cpu::graph
