// Captures: streams whose work goes into a graph instead of to the device.
//
//     cudaStreamBeginCapture(a)   k1<<<a>>>   cudaEventRecord(e, a)   cudaStreamWaitEvent(b, e)   k2<<<b>>>   ...
//
// Each captured stream has a frontier: the nodes that its next node has to wait for. An event that is recorded in a
// captured stream keeps a copy of the frontier. A stream that waits for the event adds the copy to its own frontier:
// so captures fork and join. A call that would wait for captured work, or make captured work wait for other work, fails
// and invalidates the capture.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "cuda_cpu/graph/graph.h"
#include "cuda_cpu/graph/graph_nodes.h"

namespace cuda_cpu::graph {

/// The number of captures, and of events whose latest recording is in a capture. While both are zero, captures cost a
/// call one or two relaxed loads.
inline constinit std::atomic<unsigned> active_captures{0};
inline constinit std::atomic<unsigned> captured_events{0};

inline bool has_captures() noexcept { return active_captures.load(std::memory_order_relaxed) != 0; }
inline bool has_captured_events() noexcept {
  return has_captures() || captured_events.load(std::memory_order_relaxed) != 0;
}

/// Makes the node of a call. Its error becomes the error of the call.
using MakeNode = std::function<CUresult(NodeParams&)>;
CUresult capture_or(CUstream stream, MakeNode const& make, std::function<CUresult()> const& work);

/// Gives work to a stream, for each call that does so: runs `work`, or, while the stream is captured, adds the node
/// from `make` to the graph. REQUIRES: a call whose work can be captured, so not a call that waits.
template <class Make, class Work>
CUresult enqueue(CUstream stream, Make const& make, Work const& work) {
  if (!has_captures()) [[likely]]
    return work();
  return capture_or(stream, make, work);
}

// Other calls ask whether they may go on: CUDA_SUCCESS means yes. An error is explained by cpu::refuse() and
// invalidates the captures that it affects.

/// For a call that waits for the stream or asks whether it is done.
CUresult check_wait(CUstream stream);
/// For a call that ends the stream, or whose work cannot be captured. Fails, too, if the work would wait for a captured
/// stream.
CUresult check_not_captured(CUstream stream);
/// For the destruction of a stream: as check_not_captured(), but a stream that joined a capture by an event may go.
/// What it has captured stays.
CUresult check_destruction(CUstream stream);
/// For a call that waits for all streams.
CUresult check_wait_for_all();
/// For a call that waits for the event or asks about it.
CUresult check_event(CUevent event);
/// For a call that a capture does not see, such as an allocation. The modes of the thread and of the captures decide.
CUresult check_unseen(char const* call);
/// For a synchronous call: as check_unseen(), but the call also waits for the default stream.
CUresult check_synchronous(char const* call);

/// Do cudaEventRecord() and cudaStreamWaitEvent(). `work` makes the call if nothing is captured. If `is_external` is
/// true, a capture makes a node of the call.
CUresult record_event(CUevent event, CUstream stream, bool is_external, std::function<CUresult()> const& work);
CUresult wait_for_event(CUstream stream, CUevent event, bool is_external, std::function<CUresult()> const& work);
void forget_event(CUevent event);

/// The results of cudaStreamGetCaptureInfo(). The arrays live until the next call on the stream.
struct CaptureInfo {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> const* nodes = nullptr;
  std::vector<cudaGraphEdgeData> const* edges = nullptr;
};
CUresult capture_info(CUstream stream, CaptureInfo& info);

/// Begins a capture into `graph`, or into a new graph if it is null.
cudaError_t begin_capture(CUstream stream, cudaStreamCaptureMode mode, cudaGraph_t graph, cudaGraphNode_t const* nodes,
                          cudaGraphEdgeData const* data, std::size_t count);
cudaError_t end_capture(CUstream stream, cudaGraph_t* graph);
cudaError_t update_frontier(CUstream stream, cudaGraphNode_t const* nodes, cudaGraphEdgeData const* data,
                            std::size_t count, bool replaces);
/// Ends all captures before the device is reset, and drops the graphs that they made.
void end_all_captures();
/// Sets the mode of this thread. Returns the previous mode.
cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode) noexcept;

}  // namespace cuda_cpu::graph
