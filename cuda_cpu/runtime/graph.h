// Graph: the nodes of a CUDA graph and what each has to wait for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/runtime/graph_nodes.h"
#include "tracing_core/internal/mutex.h"

namespace cuda_cpu::runtime {

class UserObject;
struct Node;

/// Guards all graphs, their nodes and the captures. Not held while work is given to a stream.
inline constinit tracing::internal::Mutex graphs_mutex;

/// One node's wait for another.
struct Edge {
  Node* node = nullptr;  // the other
  cudaGraphEdgeData data{};
};

/// Members that are not const are guarded by graphs_mutex; those of an executable graph by the mutex of that.
struct Node {
  Node(Graph& its_graph, NodeParams its_params) : graph(&its_graph), params(std::move(its_params)) {}

  Graph* const graph;
  NodeParams params;
  std::vector<Edge> dependencies;
  std::vector<Edge> dependents;
  cudaGraphNode_t handle = nullptr;
  cudaGraphNode_t original = nullptr;  // of a clone: the node that it is a copy of
  bool is_enabled = true;              // in an executable graph
};

/// A graph is destroyed without graphs_mutex: what it holds may call the program.
class Graph {
 public:
  Graph() = default;
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;
  ~Graph();

  /// In the order in which they were added.
  std::vector<std::shared_ptr<Node>> const& nodes() const TRACING_REQUIRES(graphs_mutex) { return nodes_; }
  Node& add(NodeParams params, std::span<Edge const> dependencies) TRACING_REQUIRES(graphs_mutex);
  /// False if the edge exists, or would lead from a node to itself.
  bool connect(Node& from, Node& to, cudaGraphEdgeData const& data) TRACING_REQUIRES(graphs_mutex);
  /// False if there is no such edge.
  bool disconnect(Node& from, Node& to) TRACING_REQUIRES(graphs_mutex);
  void remove(Node& node) TRACING_REQUIRES(graphs_mutex);

  /// The nodes in an order in which each follows those that it waits for; none if some wait for each other.
  std::optional<std::vector<Node*>> order() const TRACING_REQUIRES(graphs_mutex);
  /// A copy of the nodes, of the graphs in them, and of the user objects.
  std::shared_ptr<Graph> clone() const TRACING_REQUIRES(graphs_mutex);
  /// Whether the other is this graph, or one in it.
  bool contains(Graph const& other) const TRACING_REQUIRES(graphs_mutex);
  /// Whether nodes here, or in graphs in it, allocate or free memory.
  bool has_memory_nodes() const TRACING_REQUIRES(graphs_mutex);

  cudaGraph_t handle = nullptr;
  bool is_owned = false;     // by a node of another graph
  bool is_captured = false;  // by a stream at this moment
  std::weak_ptr<void> executable{};  // the latest, for graphs with memory nodes, of which there is one
  std::map<std::shared_ptr<UserObject>, unsigned> user_objects{};  // how many references the graph has

 private:
  std::vector<std::shared_ptr<Node>> nodes_;
};

/// Makes a graph, with a handle.
std::shared_ptr<Graph> make_graph();

/// Of a graph that belongs to a node: its handle ends with the last of these pointers.
std::shared_ptr<Graph> owned(std::shared_ptr<Graph> graph);
/// A graph that moves into this node is the node's from now on. To be called when the node is part of a graph.
void own_child(NodeParams& params) TRACING_REQUIRES(graphs_mutex);

/// Null if the handle is of none.
std::shared_ptr<Graph> find_graph(cudaGraph_t handle);
std::shared_ptr<Graph> take_graph(cudaGraph_t handle);
std::shared_ptr<Node> find_node(cudaGraphNode_t handle);

/// The node's parameters of one kind; null if the handle is of no such node.
template <class Params>
Params* find_params(cudaGraphNode_t handle) TRACING_REQUIRES(graphs_mutex) {
  auto const node = find_node(handle);
  return node == nullptr ? nullptr : std::get_if<Params>(&node->params);
}

/// Reads an array of nodes of one graph, as calls pass dependencies. False if one of them is not a node of this graph.
bool read_nodes(Graph const& graph, cudaGraphNode_t const* nodes, cudaGraphEdgeData const* data, std::size_t count,
                std::vector<Edge>& out) TRACING_REQUIRES(graphs_mutex);

}  // namespace cuda_cpu::runtime
