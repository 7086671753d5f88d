// The methods of Driver for graphs, but for their launch, and for libraries of kernels.
#include <array>
#include <string>
#include <string_view>

#include "tracing_core/cuda/driver/driver_state.h"
#include "tracing_core/cuda/driver/kernel_name.h"
#include "tracing_core/cuda/stopwatch.h"

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

CUresult Driver::stream_begin_capture(CUstream stream, CUstreamCaptureMode mode) {
  TRACE_SPAN(trace, "stream_begin_capture", tracing::kv("stream", state_->log.number_of(stream)),
             tracing::kv("mode", text_of(mode)));
  return state_->check(State::if_there(state_->api.stream_begin_capture, stream, mode), "cuStreamBeginCapture({})",
                       stream);
}

CUresult Driver::stream_end_capture(CUstream stream, CUgraph* graph) {
  Span const span = TRACE_MAKE_SPAN(trace, "stream_end_capture", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("nodes", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = State::if_there(state_->api.stream_end_capture, stream, graph);
  if (result == CUDA_SUCCESS && span) span.record(tracing::kv("nodes", count_nodes(state_->api, *graph)));
  return state_->check(result, "cuStreamEndCapture({})", stream);
}

CUresult Driver::graph_destroy(CUgraph graph) {
  TRACE_SPAN(trace, "graph_destroy");
  return check(State::if_there(state_->api.graph_destroy, graph), "cuGraphDestroy()");
}

CUresult Driver::graph_instantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
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

CUresult Driver::graph_exec_destroy(CUgraphExec exec) {
  State::Graph const graph = state_->graph_of(exec);
  {
    MutexLock const lock(state_->mutex);  // before the call: handles may be reused at once
    state_->graphs.erase(exec);
  }
  TRACE_SPAN(trace, "graph_exec_destroy", tracing::kv("graph", graph.number));
  return state_->check(State::if_there(state_->api.graph_exec_destroy, exec), "cuGraphExecDestroy(graph {})",
                       graph.number);
}

CUresult Driver::library_load(CUlibrary* library, void const* image, std::string_view name, std::size_t bytes) {
  Span const span =
      TRACE_MAKE_SPAN(debug, "library_load", tracing::kv("library", name), bytes,
                      tracing::kv("device", state_->device.load()), tracing::kv("duration_ms", tracing::empty));
  auto const entered = span.enter();
  std::array<char, 4096> errors{};
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{errors.data(), reinterpret_cast<void*>(errors.size())};
  internal::Stopwatch const watch;
  CUresult const result = State::if_there(state_->api.library_load_data, library, image, options.data(), values.data(),
                                          static_cast<unsigned>(options.size()), static_cast<CUlibraryOption*>(nullptr),
                                          static_cast<void**>(nullptr), 0U);
  double const duration_ms = watch.ms();
  if (result == CUDA_SUCCESS) {
    TRACE_DEBUG("loaded", duration_ms);
    span.record(tracing::kv("duration_ms", duration_ms));
    MutexLock const lock(state_->mutex);
    state_->libraries[*library] = name;
  } else if (errors.front() != '\0') {
    TRACE_ERROR("{}", std::string_view(errors.data()));
  }
  return state_->check(result, "cuLibraryLoadData({})", name);
}

CUresult Driver::library_unload(CUlibrary library) {
  std::string name;
  {
    MutexLock const lock(state_->mutex);
    if (auto known = state_->libraries.extract(library)) name = std::move(known.mapped());
  }
  TRACE_SPAN(trace, "library_unload", tracing::kv("library", name));
  return check(State::if_there(state_->api.library_unload, library), "cuLibraryUnload()");
}

CUresult Driver::library_get_function(CUfunction* function, CUlibrary library, char const* name) {
  CUkernel kernel = nullptr;
  CUresult result = State::if_there(state_->api.library_get_kernel, &kernel, library, name);
  if (result == CUDA_SUCCESS) result = State::if_there(state_->api.kernel_get_function, function, kernel);
  if (result == CUDA_SUCCESS) {
    state_->log.add_kernel(*function, nullptr, kernel_name(name));
    TRACE_DEBUG("found kernel", tracing::kv("kernel.name", tracing::display(kernel_name(name))));
  }
  return state_->check(result, "cuLibraryGetKernel({})", name);
}

}}}  // namespace tracing::v1::cuda
