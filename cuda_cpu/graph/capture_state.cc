#include "cuda_cpu/graph/capture_state.h"

#include <algorithm>
#include <utility>

namespace cuda_cpu::graph {

Captures& captures() {
  static auto& its = *new Captures;
  return its;
}

CUresult invalidated() {
  return cpu::refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                     "an earlier call in the capture failed; end it with cudaStreamEndCapture()");
}

CUresult fail(GraphCapture& capture, CUresult code, std::string message) {
  capture.is_invalid = true;
  return cpu::refuse(code, std::move(message));
}

CUresult check_default_stream(cpu::Streams::Handle const& stream) {
  if (!is_default(stream)) return CUDA_SUCCESS;
  bool const is_blocked = captures().invalidate_if([](CapturedStream const& its) { return its.stream->is_blocking; });
  return !is_blocked
             ? CUDA_SUCCESS
             : cpu::refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                           "the default stream waits for a stream that is being captured; use another stream, or "
                           "capture one that was created with cudaStreamNonBlocking");
}

void add_to(Frontier& frontier, Frontier const& further) {
  for (Edge const& edge : further) {
    if (std::ranges::none_of(frontier, [&](Edge const& its) { return its.node == edge.node; }))
      frontier.push_back(edge);
  }
}

}  // namespace cuda_cpu::graph
