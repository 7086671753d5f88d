// Graph: the nodes of a CUDA graph, and for each node the nodes that it waits for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/graph_nodes.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu::graph {

class UserObject;
struct Node;

/// Guards all graphs, their nodes and the captures. Not held while work is given to a stream.
inline constinit tracing::support::Mutex graphs_mutex;

/// An edge, stored in both of its nodes.
struct Edge {
  Node* node = nullptr;  // the other node
  cudaGraphEdgeData data{};
};

/// graphs_mutex guards the members that are not const. In an executable graph the mutex of the GraphExec guards them.
struct Node {
  Node(Graph& its_graph, NodeParams its_params) : graph(&its_graph), params(std::move(its_params)) {}

  Graph* const graph;
  NodeParams params;
  std::vector<Edge> dependencies;
  std::vector<Edge> dependents;
  cudaGraphNode_t handle = nullptr;
  cudaGraphNode_t original = nullptr;  // in a clone: the copied node
  bool is_enabled = true;              // in an executable graph
};

/// Destroy a graph without graphs_mutex: what it holds may call the program.
class Graph {
 public:
  Graph() = default;
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;
  ~Graph();

  /// Returns the nodes in the order in which they were added.
  std::vector<std::shared_ptr<Node>> const& nodes() const TRACING_REQUIRES(graphs_mutex) { return nodes_; }
  Node& add(NodeParams params, std::span<Edge const> dependencies) TRACING_REQUIRES(graphs_mutex);
  /// Returns false if the edge exists, or would lead from a node to itself.
  bool connect(Node& from, Node& to, cudaGraphEdgeData const& data) TRACING_REQUIRES(graphs_mutex);
  /// Returns false if the edge does not exist.
  bool disconnect(Node& from, Node& to) TRACING_REQUIRES(graphs_mutex);
  void remove(Node& node) TRACING_REQUIRES(graphs_mutex);

  /// Returns the nodes in an order in which each follows the nodes that it waits for; nothing if nodes wait for each
  /// other.
  std::optional<std::vector<Node*>> order() const TRACING_REQUIRES(graphs_mutex);
  /// Copies the nodes, the graphs in them, and the references to user objects.
  std::shared_ptr<Graph> clone() const TRACING_REQUIRES(graphs_mutex);
  /// Returns true if `other` is this graph, or is in a node of it, at any depth.
  bool contains(Graph const& other) const TRACING_REQUIRES(graphs_mutex);
  /// Returns true if nodes of this graph, or of graphs in its nodes, allocate or free memory.
  bool has_memory_nodes() const TRACING_REQUIRES(graphs_mutex);

  cudaGraph_t handle = nullptr;
  bool is_owned = false;             // by a node of another graph
  bool is_captured = false;          // by a stream at this moment
  std::weak_ptr<void> executable{};  // the latest; a graph with memory nodes may have only one
  std::map<std::shared_ptr<UserObject>, unsigned> user_objects{};  // how many references the graph has

 private:
  std::vector<std::shared_ptr<Node>> nodes_;
};

/// Makes a graph, with a handle.
std::shared_ptr<Graph> make_graph();

/// Returns a pointer for the node that owns the graph. The graph's handle ends with the last copy of the pointer.
std::shared_ptr<Graph> owned(std::shared_ptr<Graph> graph);
/// Lets a node own the graph that moves into it. Call it when the node is part of a graph.
void own_child(NodeParams& params) TRACING_REQUIRES(graphs_mutex);

/// Return null if nothing has this handle. take_graph() ends the handle.
std::shared_ptr<Graph> find_graph(cudaGraph_t handle);
std::shared_ptr<Graph> take_graph(cudaGraph_t handle);
std::shared_ptr<Node> find_node(cudaGraphNode_t handle);

/// Returns the node's parameters of one kind; null if no node of this kind has the handle.
template <class Params>
Params* find_params(cudaGraphNode_t handle) TRACING_REQUIRES(graphs_mutex) {
  auto const node = find_node(handle);
  return node == nullptr ? nullptr : std::get_if<Params>(&node->params);
}

/// Reads an array of nodes of one graph, as calls pass dependencies. Returns false if it has a node of another graph.
bool read_nodes(Graph const& graph, cudaGraphNode_t const* nodes, cudaGraphEdgeData const* data, std::size_t count,
                std::vector<Edge>& out) TRACING_REQUIRES(graphs_mutex);

}  // namespace cuda_cpu::graph
