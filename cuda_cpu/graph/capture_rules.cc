// Calls that do not fit a capture.
#include <fmt/format.h>

#include <thread>
#include <utility>

#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/graph/capture_state.h"

namespace cuda_cpu::graph {
namespace {

using tracing::support::MutexLock;

cudaStreamCaptureMode& this_threads_mode() noexcept {
  static thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

CUresult refuse_captured(GraphCapture& capture, char const* message) {
  return capture.is_invalid ? invalidated() : fail(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, message);
}

}  // namespace

CUresult check_wait(CUstream handle) {
  if (!has_captures()) return CUDA_SUCCESS;
  auto const stream = stream_at(handle);
  if (stream == nullptr) return CUDA_SUCCESS;  // the call fails
  MutexLock const lock(graphs_mutex);
  CapturedStream const* const its = captures().find(stream);
  return its == nullptr
             ? check_default_stream(stream)
             : refuse_captured(*its->capture, "the stream is being captured, so there is nothing to wait for");
}

CUresult check_not_captured(CUstream handle) {
  if (!has_captures()) return CUDA_SUCCESS;
  auto const stream = stream_at(handle);
  if (stream == nullptr) return CUDA_SUCCESS;  // the call fails
  MutexLock const lock(graphs_mutex);
  CapturedStream const* const its = captures().find(stream);
  return its == nullptr
             ? check_default_stream(stream)
             : refuse_captured(*its->capture, "this cannot be captured, and the stream is; end the capture first");
}

CUresult check_destruction(CUstream handle) {
  auto const stream = has_captures() ? stream_at(handle) : nullptr;
  if (stream != nullptr) {
    MutexLock const lock(graphs_mutex);
    CapturedStream const* const its = captures().find(stream);
    if (its != nullptr && its->capture->origin != stream) return CUDA_SUCCESS;
  }
  return check_not_captured(handle);
}

CUresult check_wait_for_all() {
  if (!has_captures()) return CUDA_SUCCESS;
  MutexLock const lock(graphs_mutex);
  return !captures().invalidate_if([](CapturedStream const&) { return true; })
             ? CUDA_SUCCESS
             : cpu::refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the device is being captured");
}

CUresult check_event(CUevent event) {
  if (!has_captured_events()) return CUDA_SUCCESS;
  MutexLock const lock(graphs_mutex);
  CapturedEvent const* const its = captures().find(event);
  return its == nullptr
             ? CUDA_SUCCESS
             : fail(*its->capture, CUDA_ERROR_CAPTURED_EVENT,
                    "the event was last recorded in a capture, so it never happens; record it in a stream first");
}

CUresult check_unseen(char const* call) {
  if (!has_captures()) return CUDA_SUCCESS;
  auto const mode = this_threads_mode();
  MutexLock const lock(graphs_mutex);
  bool const is_prohibited = captures().invalidate_if([&](CapturedStream const& its) {
    bool const is_own = its.capture->thread == std::this_thread::get_id();
    if (mode == cudaStreamCaptureModeRelaxed || its.capture->mode == cudaStreamCaptureModeRelaxed) return false;
    return is_own || (mode == cudaStreamCaptureModeGlobal && its.capture->mode == cudaStreamCaptureModeGlobal);
  });
  return !is_prohibited
             ? CUDA_SUCCESS
             : cpu::refuse(
                   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   fmt::format("{} would not be part of the graph that is being captured; call it before, or capture "
                               "in cudaStreamCaptureModeRelaxed",
                               call));
}

CUresult check_synchronous(char const* call) {
  if (!has_captures()) return CUDA_SUCCESS;
  {
    MutexLock const lock(graphs_mutex);
    CUresult const result = check_default_stream(cpu::Device::get()->streams.legacy());
    if (result != CUDA_SUCCESS) return result;
  }
  return check_unseen(call);
}

cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode) noexcept {
  return std::exchange(this_threads_mode(), mode);
}

}  // namespace cuda_cpu::graph
