// Events in captures: how they fork and join.
#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/graph/capture_state.h"

namespace cuda_cpu::graph {

using tracing::support::MutexLock;

namespace {

bool exists(CUevent event) { return cpu::Device::get()->events.find(event) != nullptr; }

}  // namespace

// If the event or the stream does not exist, both functions run `work`, which fails.
CUresult record_event(CUevent event, CUstream handle, bool is_external, std::function<CUresult()> const& work) {
  if (!has_captured_events() || !exists(event)) return work();
  if (is_external) {
    auto const make = [&](NodeParams& node) {
      node = EventRecordNode{event};
      return CUDA_SUCCESS;
    };
    return capture_or(handle, make, [&] {
      forget_event(event);
      return work();
    });
  }
  if (auto const stream = stream_at(handle)) {
    MutexLock const lock(graphs_mutex);
    CapturedStream const* const its = captures().find(stream);
    if (its != nullptr) {
      if (its->capture->is_invalid) return invalidated();
      if (captures().events.insert_or_assign(event, CapturedEvent{its->capture, its->frontier}).second)
        captured_events.fetch_add(1, std::memory_order_relaxed);
      return CUDA_SUCCESS;
    }
    if (CUresult const result = check_default_stream(stream); result != CUDA_SUCCESS) return result;
  }
  forget_event(event);
  return work();
}

CUresult wait_for_event(CUstream handle, CUevent event, bool is_external, std::function<CUresult()> const& work) {
  auto const stream = has_captured_events() && exists(event) ? stream_at(handle) : nullptr;
  if (stream == nullptr) return work();
  if (is_external) {
    auto const make = [&](NodeParams& node) {
      node = EventWaitNode{event};
      return CUDA_SUCCESS;
    };
    return capture_or(handle, make, work);
  }
  MutexLock lock(graphs_mutex);
  CapturedStream* const its = captures().find(stream);
  CapturedEvent const* const from = captures().find(event);
  if (its != nullptr && its->capture->is_invalid) return invalidated();
  if (from == nullptr && its == nullptr) {
    CUresult const result = check_default_stream(stream);
    lock.unlock();
    return result == CUDA_SUCCESS ? work() : result;
  }
  if (from != nullptr && its == nullptr) {
    if (from->capture->graph == nullptr)
      return cpu::refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture that is over");
    if (from->capture->is_invalid) return invalidated();
    if (is_default(stream))
      return fail(*from->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                  "the default stream cannot be captured; use another stream");
    captures().streams.emplace(stream.get(), CapturedStream{stream, from->capture, from->frontier});
    return CUDA_SUCCESS;
  }
  if (from == nullptr || from->capture->graph == nullptr)
    return fail(
        *its->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
        "a captured stream would wait for an event that is not of the capture; cudaEventWaitExternal makes it a node");
  if (from->capture != its->capture) {
    from->capture->is_invalid = true;
    return fail(*its->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE, "the event is of another capture");
  }
  add_to(its->frontier, from->frontier);
  return CUDA_SUCCESS;
}

void forget_event(CUevent event) {
  if (!has_captured_events()) return;
  MutexLock const lock(graphs_mutex);
  if (captures().events.erase(event) != 0) captured_events.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace cuda_cpu::graph
