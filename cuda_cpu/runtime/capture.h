// Captures: streams whose work goes into a graph instead of to the device.
//
//     cudaStreamBeginCapture(a)   k1<<<a>>>   cudaEventRecord(e, a)   cudaStreamWaitEvent(b, e)   k2<<<b>>>   ...
//
// Each captured stream knows the nodes that its next one has to wait for, its frontier. An event that is recorded in
// such a stream keeps a copy of the frontier, and a stream that waits for the event adds it to its own, which is how
// captures fork and join. A call that would wait for captured work, or let it wait for other work, fails and
// invalidates the capture.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_cpu/runtime/graph.h"
#include "cuda_cpu/runtime/graph_nodes.h"

namespace cuda_cpu::runtime {

/// How many captures there are, and how many events that were last recorded in one. While both are zero, calls cost one
/// relaxed load.
inline constinit std::atomic<unsigned> active_captures{0};
inline constinit std::atomic<unsigned> captured_events{0};

inline bool has_captures() noexcept { return active_captures.load(std::memory_order_relaxed) != 0; }
inline bool has_captured_events() noexcept {
  return has_captures() || captured_events.load(std::memory_order_relaxed) != 0;
}

/// Makes the node of a call; its error becomes that of the call.
using MakeNode = std::function<CUresult(NodeParams&)>;
CUresult capture_or(CUstream stream, MakeNode const& make, std::function<CUresult()> const& work);

/// Every call that gives work to a stream passes here: `work` does that, unless the stream is captured; then the node
/// from `make` is added to its graph. REQUIRES: a stream in which work may be captured, so not a call that waits.
template <class Make, class Work>
CUresult enqueue(CUstream stream, Make const& make, Work const& work) {
  if (!has_captures()) [[likely]]
    return work();
  return capture_or(stream, make, work);
}

// The rest is what other calls have to ask. CUDA_SUCCESS: they may go on. An error was explained by cpu::refuse(), and
// the captures that it affects are invalidated.

/// For a call that waits for the stream or asks whether it is done.
CUresult check_wait(CUstream stream);
/// For a call that ends the stream, or whose work cannot be captured; also if that would wait for a captured stream.
CUresult check_not_captured(CUstream stream);
/// For a call that waits for all streams.
CUresult check_wait_for_all();
/// For a call that waits for the event or asks about it.
CUresult check_event(CUevent event);
/// For a call that a capture would not see, such as an allocation, by the modes of the thread and of the captures.
CUresult check_unseen(char const* call);
/// For a synchronous call, which waits for the default stream, too.
CUresult check_synchronous(char const* call);

/// cudaEventRecord() and cudaStreamWaitEvent(); `work` does it where nothing is captured. External: as a node of its
/// own.
CUresult record_event(CUevent event, CUstream stream, bool is_external, std::function<CUresult()> const& work);
CUresult wait_for_event(CUstream stream, CUevent event, bool is_external, std::function<CUresult()> const& work);
void forget_event(CUevent event);

/// What cudaStreamGetCaptureInfo() returns. The arrays live until the next call on the stream.
struct CaptureInfo {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> const* nodes = nullptr;
  std::vector<cudaGraphEdgeData> const* edges = nullptr;
};
CUresult capture_info(CUstream stream, CaptureInfo& info);

/// Into a new graph if `graph` is null.
cudaError_t begin_capture(CUstream stream, cudaStreamCaptureMode mode, cudaGraph_t graph, cudaGraphNode_t const* nodes,
                          cudaGraphEdgeData const* data, std::size_t count);
cudaError_t end_capture(CUstream stream, cudaGraph_t* graph);
cudaError_t update_frontier(CUstream stream, cudaGraphNode_t const* nodes, cudaGraphEdgeData const* data,
                            std::size_t count, bool replaces);
/// Before the device is reset: their graphs are dropped.
void end_all_captures();
/// The mode of this thread; returns the one before.
cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode) noexcept;

}  // namespace cuda_cpu::runtime
