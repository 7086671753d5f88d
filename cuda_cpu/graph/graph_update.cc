// cudaGraphExecUpdate(): compares the nodes and edges of two graphs, in the order in which they were added.
#include <algorithm>
#include <unordered_map>

#include "cuda_cpu/graph/graph_exec.h"

namespace cuda_cpu::graph {
namespace {

using Indices = std::unordered_map<Node const*, std::size_t>;

Indices indices_of(Graph const& graph) TRACING_REQUIRES(graphs_mutex) {
  Indices indices;
  for (auto const& node : graph.nodes()) indices.emplace(node.get(), indices.size());
  return indices;
}

// Returns a dependency of `node`, in the first graph, that `other` lacks; null if it lacks none.
Node const* differing_dependency(Node const& node, Indices const& indices, Node const& other, Indices const& others) {
  for (Edge const& edge : node.dependencies) {
    bool const is_there = std::ranges::any_of(
        other.dependencies, [&](Edge const& its) { return others.at(its.node) == indices.at(edge.node); });
    if (!is_there) return edge.node;
  }
  return nullptr;
}

cudaGraphExecUpdateResultInfo compare(Graph const& from, Graph const& to) TRACING_REQUIRES(graphs_mutex) {
  if (from.nodes().size() != to.nodes().size()) return {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  Indices const indices = indices_of(from);
  Indices const others = indices_of(to);
  for (std::size_t i = 0; i < from.nodes().size(); ++i) {
    Node const& node = *from.nodes()[i];
    Node const& other = *to.nodes()[i];
    if (node.params.index() != other.params.index())
      return {cudaGraphExecUpdateErrorNodeTypeChanged, node.handle, nullptr};
    Node const* const differs = differing_dependency(node, indices, other, others);
    if (differs != nullptr || node.dependencies.size() != other.dependencies.size())
      return {cudaGraphExecUpdateErrorTopologyChanged, node.handle, differs == nullptr ? nullptr : differs->handle};
    auto const* const alloc = std::get_if<AllocNode>(&node.params);
    auto const* const free = std::get_if<FreeNode>(&node.params);
    if ((alloc != nullptr && alloc->allocation != std::get<AllocNode>(other.params).allocation) ||
        (free != nullptr && free->allocation != std::get<FreeNode>(other.params).allocation))
      return {cudaGraphExecUpdateErrorParametersChanged, node.handle, nullptr};
    if (auto const* const child = std::get_if<ChildNode>(&node.params)) {
      auto const info = compare(*child->graph, *std::get<ChildNode>(other.params).graph);
      if (info.result != cudaGraphExecUpdateSuccess) return info;
    }
  }
  return {cudaGraphExecUpdateSuccess, nullptr, nullptr};
}

void replace_params(Graph const& from, Graph& to) TRACING_REQUIRES(graphs_mutex) {
  for (std::size_t i = 0; i < from.nodes().size(); ++i) {
    Node const& node = *from.nodes()[i];
    if (auto const* const child = std::get_if<ChildNode>(&node.params))
      replace_params(*child->graph, *std::get<ChildNode>(to.nodes()[i]->params).graph);
    else
      to.nodes()[i]->params = node.params;
  }
}

}  // namespace

cudaGraphExecUpdateResultInfo update_nodes(Graph const& from, Graph& to) {
  auto const info = compare(from, to);
  if (info.result == cudaGraphExecUpdateSuccess) replace_params(from, to);
  return info;
}

}  // namespace cuda_cpu::graph
