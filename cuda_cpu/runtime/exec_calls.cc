// Graph management: executable graphs.
#define TRACE_TARGET "tracing::cuda::launch"
#include <fmt/format.h>

#include "cuda_cpu/graph/capture.h"
#include "cuda_cpu/graph/graph_exec.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::runtime;
using tracing::support::MutexLock;

namespace {

constexpr unsigned long long kKnownFlags = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                           cudaGraphInstantiateFlagDeviceLaunch |
                                           cudaGraphInstantiateFlagUseNodePriority;

// Sets `made` and `nodes`.
cudaError_t make_exec(cudaGraphExec_t* out, cudaGraph_t handle, unsigned long long flags,
                      cudaGraphInstantiateResult& result, std::shared_ptr<GraphExec>& made, std::size_t& nodes) {
  result = cudaGraphInstantiateError;
  auto const graph = find_graph(handle);
  if (out == nullptr || graph == nullptr || (flags & ~kKnownFlags) != 0) return cudaErrorInvalidValue;
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0)
    return refuse(cudaErrorNotSupported,
                  "a graph that kernels launch (cudaGraphInstantiateFlagDeviceLaunch) is not supported");
  MutexLock const lock(graphs_mutex);
  if (graph->is_captured) return refuse(cudaErrorIllegalState, "the graph is being captured; end that first");
  if (!graph->order()) {
    result = cudaGraphInstantiateInvalidStructure;
    return refuse(cudaErrorInvalidValue, "the nodes of the graph wait for each other: its edges form a cycle");
  }
  if (graph->has_memory_nodes() && !graph->executable.expired())
    return refuse(cudaErrorNotSupported,
                  "a graph with nodes that allocate or free memory has at most one executable graph");
  made = std::make_shared<GraphExec>(graph->clone(), flags, driver());
  nodes = graph->nodes().size();
  graph->executable = made;
  *out = add_exec(made);
  result = cudaGraphInstantiateSuccess;
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t handle, unsigned long long flags,
                        cudaGraphInstantiateResult& result) {
  tracing::Span const span = TRACE_MAKE_SPAN(trace, "graph_instantiate", flags, tracing::kv("graph", tracing::empty),
                                             tracing::kv("nodes", tracing::empty));
  auto const entered = span.enter();
  std::shared_ptr<GraphExec> made;
  std::size_t nodes = 0;
  cudaError_t const error = make_exec(out, handle, flags, result, made, nodes);
  if (error == cudaSuccess) {
    TRACE_TRACE("instantiated", tracing::kv("graph", made->number), nodes);
    span.record(tracing::kv("graph", made->number), tracing::kv("nodes", nodes));
  }
  return error;
}

template <class Body>
cudaError_t on_exec(cudaGraphExec_t handle, Body const& body) noexcept {
  return call([&]() -> cudaError_t {
    auto const exec = find_exec(handle);
    return exec == nullptr ? cudaErrorInvalidValue : to_error(body(*exec));
  });
}

bool can_be_disabled(NodeParams const& params) noexcept {
  return std::holds_alternative<KernelNode>(params) || std::holds_alternative<MemcpyNode>(params) ||
         std::holds_alternative<MemsetNode>(params);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return call([&] {
    cudaGraphInstantiateResult result{};
    return instantiate(exec, graph, flags, result);
  });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  return call([&] {
    if (params == nullptr) return cudaErrorInvalidValue;
    params->errNode_out = nullptr;
    return instantiate(exec, graph, params->flags, params->result_out);
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return on_exec(handle, [&](GraphExec& exec) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = exec.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return release_call([&] {
    auto const taken = take_exec(exec);
    if (taken == nullptr) return cudaErrorInvalidValue;
    TRACE_SPAN(trace, "graph_exec_destroy", tracing::kv("graph", taken->number));
    return cudaSuccess;
  });
}

// There is nothing to do before a launch.
cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  return on_exec(handle, [&](GraphExec& exec) {
    TRACE_SPAN(trace, "graph_upload", tracing::kv("graph", exec.number),
               tracing::kv("stream", driver().number_of(stream_of(stream))));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t given) {
  return on_exec(handle, [&](GraphExec& exec) {
    CUstream const stream = stream_of(given);
    // Copies the graph before graphs_mutex is locked.
    std::shared_ptr<Graph> const copy = has_captures() ? owned(exec.clone_graph()) : nullptr;
    auto const make = [&](NodeParams& node) TRACING_REQUIRES(graphs_mutex) {
      TRACE_SPAN(trace, "graph_launch", tracing::kv("graph", exec.number),
                 tracing::kv("stream", driver().number_of(stream)), tracing::kv("capture", "active"));
      if (copy == nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // another thread began the capture in between
      node = ChildNode{copy};
      return !copy->has_memory_nodes()
                 ? CUDA_SUCCESS
                 : cuda_cpu::cpu::refuse(CUDA_ERROR_NOT_SUPPORTED,
                                         "a graph with nodes that allocate or free memory cannot be captured");
    };
    return enqueue(stream, make, [&] { return exec.launch(stream); });
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle, cudaGraphExecUpdateResultInfo* info) {
  return on_exec(handle, [&](GraphExec& exec) -> cudaError_t {
    auto const graph = find_graph(graph_handle);
    if (graph == nullptr || info == nullptr) return cudaErrorInvalidValue;
    TRACE_SPAN(trace, "graph_exec_update", tracing::kv("graph", exec.number));
    *info = exec.update(*graph);
    if (info->result == cudaGraphExecUpdateSuccess) return cudaSuccess;
    return refuse(cudaErrorGraphExecUpdateFailure,
                  info->result == cudaGraphExecUpdateErrorTopologyChanged
                      ? "the graph has other nodes or edges than the executable graph"
                  : info->result == cudaGraphExecUpdateErrorNodeTypeChanged
                      ? "a node of the graph is of another kind than in the executable graph"
                      : "a node of the graph allocates or frees other memory");
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node, unsigned is_enabled) {
  return on_exec(handle, [&](GraphExec& exec) {
    return exec.change_node(node, [&](Node& its) {
      if (!can_be_disabled(its.params)) return cudaErrorInvalidValue;
      its.is_enabled = is_enabled != 0;
      return cudaSuccess;
    });
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node, unsigned* is_enabled) {
  return on_exec(handle, [&](GraphExec& exec) {
    return exec.change_node(node, [&](Node const& its) {
      if (is_enabled == nullptr || !can_be_disabled(its.params)) return cudaErrorInvalidValue;
      *is_enabled = its.is_enabled ? 1 : 0;
      return cudaSuccess;
    });
  });
}

}  // extern "C"
