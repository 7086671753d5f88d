// Graph management: graphs, their nodes and edges.
#define TRACE_TARGET "tracing::cuda::launch"
#include <algorithm>
#include <span>

#include "cuda_cpu/graph/graph.h"
#include "cuda_cpu/graph/user_objects.h"
#include "cuda_cpu/runtime/runtime.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::runtime;
using tracing::support::MutexLock;

namespace {

bool is_plain(cudaGraphEdgeData const& data) noexcept {
  return data.from_port == 0 && data.to_port == 0 && data.type == 0;
}

// Calls `body` with the graph of a handle, under graphs_mutex, and keeps the graph alive meanwhile.
template <class Body>
cudaError_t on_graph(cudaGraph_t handle, Body const& body) noexcept {
  return call([&]() -> cudaError_t {
    auto const graph = find_graph(handle);
    MutexLock const lock(graphs_mutex);
    return graph == nullptr ? cudaErrorInvalidValue : body(*graph);
  });
}

template <class Body>
cudaError_t on_node(cudaGraphNode_t handle, Body const& body) noexcept {
  return call([&]() -> cudaError_t {
    auto const node = find_node(handle);
    MutexLock const lock(graphs_mutex);
    return node == nullptr ? cudaErrorInvalidValue : body(*node);
  });
}

// Returns a list as NVIDIA's reference says: without an array, only its length; with an array, at most `count` nodes
// and null in the rest.
template <class Get>
cudaError_t give(std::size_t found, cudaGraphNode_t* out, std::size_t* count, Get const& get) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) out[i] = i < found ? get(i) : nullptr;
    *count = std::min(found, *count);
  } else {
    *count = found;
  }
  return cudaSuccess;
}

cudaError_t give_edges(std::span<Edge const> edges, cudaGraphNode_t* out, cudaGraphEdgeData* data, std::size_t* count) {
  if (data != nullptr && out == nullptr) return cudaErrorInvalidValue;
  if (out != nullptr && data == nullptr && !std::ranges::all_of(edges, is_plain, &Edge::data))
    return cudaErrorLossyQuery;
  cudaError_t const error = give(edges.size(), out, count, [&](std::size_t i) { return edges[i].node->handle; });
  if (error == cudaSuccess && data != nullptr)
    for (std::size_t i = 0; i < *count; ++i) data[i] = edges[i].data;
  return error;
}

// Looks up all nodes, then runs `change` for each pair.
template <class Change>
cudaError_t change_edges(cudaGraph_t handle, cudaGraphNode_t const* from, cudaGraphNode_t const* to,
                         cudaGraphEdgeData const* data, std::size_t count, Change const& change) noexcept {
  return on_graph(handle, [&](Graph& graph) TRACING_REQUIRES(graphs_mutex) {
    std::vector<Edge> sources;
    std::vector<Edge> targets;
    if (!read_nodes(graph, from, data, count, sources) || !read_nodes(graph, to, nullptr, count, targets))
      return refuse(cudaErrorInvalidValue, "the edge is not one between two nodes of this graph");
    for (std::size_t i = 0; i < count; ++i)
      if (!change(graph, *sources[i].node, *targets[i].node, sources[i].data)) return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t refuse_memory_nodes(char const* what) {
  return refuse(cudaErrorNotSupported, std::string("a graph with nodes that allocate or free memory cannot ") + what);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&] {
    TRACE_SPAN(trace, "graph_create");
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = make_graph()->handle;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return release_call([&] {
    TRACE_SPAN(trace, "graph_destroy");
    auto const graph = find_graph(handle);
    MutexLock lock(graphs_mutex);
    if (graph == nullptr || graph->is_owned) return cudaErrorInvalidValue;
    if (graph->is_captured) return refuse(cudaErrorIllegalState, "the graph is being captured; end that first");
    lock.unlock();
    take_graph(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return on_graph(original, [&](Graph& graph) TRACING_REQUIRES(graphs_mutex) {
    if (clone == nullptr) return cudaErrorInvalidValue;
    if (graph.has_memory_nodes()) return refuse_memory_nodes("be cloned");
    *clone = graph.clone()->handle;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t original, cudaGraph_t clone) {
  return on_graph(clone, [&](Graph& graph) TRACING_REQUIRES(graphs_mutex) {
    if (out == nullptr) return cudaErrorInvalidValue;
    auto const found = std::ranges::find(graph.nodes(), original, [](auto const& node) { return node->original; });
    if (original == nullptr || found == graph.nodes().end()) return cudaErrorInvalidValue;
    *out = (*found)->handle;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return on_node(handle, [](Node& node) TRACING_REQUIRES(graphs_mutex) {
    if (node.graph->is_captured) return refuse(cudaErrorIllegalState, "the graph is being captured; end that first");
    if (node.graph->has_memory_nodes()) return refuse_memory_nodes("lose a node");
    node.graph->remove(node);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return on_node(handle, [&](Node& node) {
    if (type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(node.params);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return on_graph(handle, [&](Graph& graph) TRACING_REQUIRES(graphs_mutex) {
    auto const& all = graph.nodes();
    return give(all.size(), nodes, count, [&](std::size_t i) { return all[i]->handle; });
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  return on_graph(handle, [&](Graph& graph) TRACING_REQUIRES(graphs_mutex) {
    std::vector<cudaGraphNode_t> roots;
    for (auto const& node : graph.nodes())
      if (node->dependencies.empty()) roots.push_back(node->handle);
    return give(roots.size(), nodes, count, [&](std::size_t i) { return roots[i]; });
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                              std::size_t* count) {
  return on_graph(handle, [&](Graph& graph) TRACING_REQUIRES(graphs_mutex) {
    if ((from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    std::vector<Edge> sources;
    std::vector<Edge> targets;
    for (auto const& node : graph.nodes()) {
      for (Edge const& edge : node->dependents) {
        sources.push_back({node.get(), edge.data});
        targets.push_back(edge);
      }
    }
    std::size_t capacity = count == nullptr ? 0 : *count;
    cudaError_t const error = give_edges(sources, from, data, count);
    return error == cudaSuccess && to != nullptr ? give_edges(targets, to, data, &capacity) : error;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                         std::size_t* count) {
  return on_node(handle, [&](Node& node) { return give_edges(node.dependencies, nodes, data, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                           std::size_t* count) {
  return on_node(handle, [&](Node& node) { return give_edges(node.dependents, nodes, data, count); });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, cudaGraphNode_t const* from, cudaGraphNode_t const* to,
                                     cudaGraphEdgeData const* data, std::size_t count) {
  return change_edges(handle, from, to, data, count,
                      [](Graph& graph, Node& source, Node& target, cudaGraphEdgeData const& its)
                          TRACING_REQUIRES(graphs_mutex) { return graph.connect(source, target, its); });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, cudaGraphNode_t const* from, cudaGraphNode_t const* to,
                                        cudaGraphEdgeData const* data, std::size_t count) {
  return change_edges(handle, from, to, data, count,
                      [](Graph& graph, Node& source, Node& target, cudaGraphEdgeData const&)
                          TRACING_REQUIRES(graphs_mutex) { return graph.disconnect(source, target); });
}

}  // extern "C"
