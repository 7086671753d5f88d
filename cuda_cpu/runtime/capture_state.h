// What the source files of captures share.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/runtime/capture.h"
#include "cuda_cpu/runtime/graph.h"

namespace cuda_cpu::runtime {

struct Capture {
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  cpu::Streams::Handle origin;
  std::shared_ptr<Graph> graph;  // null when it is over
  bool makes_graph = true;       // else the program gave it
  bool is_invalid = false;
};

using Frontier = std::vector<Edge>;

struct CapturedStream {
  cpu::Streams::Handle stream;
  std::shared_ptr<Capture> capture;
  Frontier frontier;
  // The arrays of CaptureInfo.
  std::vector<cudaGraphNode_t> nodes{};
  std::vector<cudaGraphEdgeData> edges{};
};

struct CapturedEvent {
  std::shared_ptr<Capture> capture;
  Frontier frontier;  // empty once the capture is over
};

struct Captures {
  std::unordered_map<cpu::Stream const*, CapturedStream> streams;
  std::unordered_map<CUevent, CapturedEvent> events;
  unsigned long long last_id = 0;

  /// Null if it is not captured.
  CapturedStream* find(cpu::Streams::Handle const& stream) {
    auto const found = streams.find(stream.get());
    return found == streams.end() ? nullptr : &found->second;
  }
  /// Null if it was not last recorded in a capture.
  CapturedEvent* find(CUevent event) {
    auto const found = events.find(event);
    return found == events.end() ? nullptr : &found->second;
  }
  /// Invalidates the captures of the streams that match. False if there are none.
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

/// The default stream and the blocking streams wait for each other, so it cannot be used while one of those is
/// captured.
CUresult check_default_stream(cpu::Streams::Handle const& stream) TRACING_REQUIRES(graphs_mutex);

CUresult invalidated();
/// Invalidates the capture.
CUresult fail(Capture& capture, CUresult code, std::string message);
void add_to(Frontier& frontier, Frontier const& further);

}  // namespace cuda_cpu::runtime
