// The methods of Driver for graphs, but for their launch.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::launch"
#include <string>
#include <string_view>

#include "tracing_core/cuda/driver/driver_state.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::MutexLock;

std::string_view text_of(CUstreamCaptureMode mode) noexcept {
  switch (mode) {
    case CU_STREAM_CAPTURE_MODE_GLOBAL: return "global";
    case CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: return "thread_local";
    case CU_STREAM_CAPTURE_MODE_RELAXED: return "relaxed";
  }
  return "unknown";
}

std::size_t count_nodes(DriverApi const& api, CUgraph graph) noexcept {
  std::size_t count = 0;
  if (api.graph_get_nodes == nullptr || api.graph_get_nodes(graph, nullptr, &count) != CUDA_SUCCESS) return 0;
  return count;
}

}  // namespace

CUresult Driver::stream_begin_capture(CUstream stream, CUstreamCaptureMode mode, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "stream_begin_capture", tracing::kv("stream", state_->log.number_of(stream)),
             tracing::kv("mode", text_of(mode)));
  return state_->check(State::if_there(state_->api.stream_begin_capture, stream, mode), "cuStreamBeginCapture({})",
                       stream);
}

CUresult Driver::stream_end_capture(CUstream stream, CUgraph* graph, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "stream_end_capture", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("nodes", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = State::if_there(state_->api.stream_end_capture, stream, graph);
  if (result == CUDA_SUCCESS && span) span.record(tracing::kv("nodes", count_nodes(state_->api, *graph)));
  return state_->check(result, "cuStreamEndCapture({})", stream);
}

CUresult Driver::graph_destroy(CUgraph graph, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  TRACE_SPAN(trace, "graph_destroy");
  return check(State::if_there(state_->api.graph_destroy, graph), "cuGraphDestroy()");
}

CUresult Driver::graph_instantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span = TRACE_MAKE_SPAN(trace, "graph_instantiate", flags, tracing::kv("graph", tracing::empty),
                                    tracing::kv("nodes", tracing::empty));
  auto const entered = span.enter();
  State::Graph made{0, count_nodes(state_->api, graph)};
  CUresult const result = State::if_there(state_->api.graph_instantiate_with_flags, exec, graph, flags);
  if (result == CUDA_SUCCESS) {
    {
      MutexLock const lock(state_->mutex);
      made.number = ++state_->last_graph;
      state_->graphs[*exec] = made;
    }
    state_->log.add_kernel(reinterpret_cast<CUfunction>(*exec), nullptr, fmt::format("graph {}", made.number));
    TRACE_TRACE("instantiated", tracing::kv("graph", made.number), tracing::kv("nodes", made.nodes));
    span.record(tracing::kv("graph", made.number), tracing::kv("nodes", made.nodes));
  }
  return state_->check(result, "cuGraphInstantiateWithFlags(flags {})", flags);
}

CUresult Driver::graph_exec_destroy(CUgraphExec exec, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  State::Graph const graph = state_->graph_of(exec);
  {
    MutexLock const lock(state_->mutex);  // before the call: handles may be reused at once
    state_->graphs.erase(exec);
  }
  TRACE_SPAN(trace, "graph_exec_destroy", tracing::kv("graph", graph.number));
  return state_->check(State::if_there(state_->api.graph_exec_destroy, exec), "cuGraphExecDestroy(graph {})",
                       graph.number);
}

}}}  // namespace tracing::v1::cuda
