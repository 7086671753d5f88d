#include "cuda_cpu/graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace cuda_cpu::graph {
namespace {

cpu::Handles<Graph>& graph_handles() {
  static auto& its = *new cpu::Handles<Graph>{0x70000000};
  return its;
}
cpu::Handles<Node>& node_handles() {
  static auto& its = *new cpu::Handles<Node>{0x7000'0000'0000};
  return its;
}

void add_edge(Node& from, Node& to, cudaGraphEdgeData const& data) {
  from.dependents.push_back({&to, data});
  to.dependencies.push_back({&from, data});
}

bool erase_edge(std::vector<Edge>& edges, Node const& other) {
  return std::erase_if(edges, [&](Edge const& edge) { return edge.node == &other; }) != 0;
}

}  // namespace

Graph::~Graph() {
  for (auto const& node : nodes_) node_handles().take(node->handle);
}

Node& Graph::add(NodeParams params, std::span<Edge const> dependencies) {
  auto const& node = nodes_.emplace_back(std::make_shared<Node>(*this, std::move(params)));
  node->handle = reinterpret_cast<cudaGraphNode_t>(node_handles().add(node));
  own_child(node->params);
  for (Edge const& edge : dependencies) connect(*edge.node, *node, edge.data);
  return *node;
}

bool Graph::connect(Node& from, Node& to, cudaGraphEdgeData const& data) {
  bool const exists = std::ranges::any_of(to.dependencies, [&](Edge const& edge) { return edge.node == &from; });
  if (exists || &from == &to) return false;
  add_edge(from, to, data);
  return true;
}

bool Graph::disconnect(Node& from, Node& to) {
  return erase_edge(from.dependents, to) && erase_edge(to.dependencies, from);
}

void Graph::remove(Node& node) {
  for (Edge const& edge : node.dependencies) erase_edge(edge.node->dependents, node);
  for (Edge const& edge : node.dependents) erase_edge(edge.node->dependencies, node);
  node_handles().take(node.handle);
  std::erase_if(nodes_, [&](auto const& its) { return its.get() == &node; });
}

std::optional<std::vector<Node*>> Graph::order() const {
  // Always takes the first node that was added and can run: this mostly keeps the order in which nodes were added.
  std::unordered_map<Node const*, std::pair<std::size_t, std::size_t>> waiting;  // index, and number of waits
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    waiting[nodes_[i].get()] = {i, nodes_[i]->dependencies.size()};
    if (nodes_[i]->dependencies.empty()) ready.push(i);
  }
  std::vector<Node*> order;
  while (!ready.empty()) {
    Node* const node = order.emplace_back(nodes_[ready.top()].get());
    ready.pop();
    for (Edge const& edge : node->dependents) {
      auto& [index, count] = waiting.at(edge.node);
      if (--count == 0) ready.push(index);
    }
  }
  return order.size() == nodes_.size() ? std::optional(std::move(order)) : std::nullopt;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = make_graph();
  copy->user_objects = user_objects;
  std::unordered_map<Node const*, Node*> copies;
  for (auto const& node : nodes_) {
    NodeParams params = node->params;
    if (auto* const child = std::get_if<ChildNode>(&params)) child->graph = owned(child->graph->clone());
    Node& its = copy->add(std::move(params), {});
    its.original = node->handle;
    copies[node.get()] = &its;
  }
  for (auto const& node : nodes_)
    for (Edge const& edge : node->dependencies) add_edge(*copies[edge.node], *copies[node.get()], edge.data);
  return copy;
}

bool Graph::contains(Graph const& other) const {
  return this == &other || std::ranges::any_of(nodes_, [&](auto const& node) TRACING_REQUIRES(graphs_mutex) {
           auto const* const child = std::get_if<ChildNode>(&node->params);
           return child != nullptr && child->graph->contains(other);
         });
}

bool Graph::has_memory_nodes() const {
  return std::ranges::any_of(nodes_, [](auto const& node) TRACING_REQUIRES(graphs_mutex) {
    if (auto const* const child = std::get_if<ChildNode>(&node->params)) return child->graph->has_memory_nodes();
    return std::holds_alternative<AllocNode>(node->params) || std::holds_alternative<FreeNode>(node->params);
  });
}

std::shared_ptr<Graph> make_graph() {
  auto graph = std::make_shared<Graph>();
  graph->handle = reinterpret_cast<cudaGraph_t>(graph_handles().add(graph));
  return graph;
}

std::shared_ptr<Graph> owned(std::shared_ptr<Graph> graph) {
  Graph* const its = graph.get();
  its->is_owned = true;
  return {its, [graph = std::move(graph)](Graph*) mutable {
            take_graph(graph->handle);
            graph = nullptr;
          }};
}

void own_child(NodeParams& params) {
  auto* const child = std::get_if<ChildNode>(&params);
  if (child != nullptr && !child->graph->is_owned) child->graph = owned(std::move(child->graph));
}

std::shared_ptr<Graph> find_graph(cudaGraph_t handle) { return graph_handles().find(handle); }
std::shared_ptr<Graph> take_graph(cudaGraph_t handle) { return graph_handles().take(handle); }
std::shared_ptr<Node> find_node(cudaGraphNode_t handle) { return node_handles().find(handle); }

bool read_nodes(Graph const& graph, cudaGraphNode_t const* nodes, cudaGraphEdgeData const* data, std::size_t count,
                std::vector<Edge>& out) {
  if (nodes == nullptr) return count == 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto const node = find_node(nodes[i]);
    if (node == nullptr || node->graph != &graph) return false;
    out.push_back({node.get(), data == nullptr ? cudaGraphEdgeData{} : data[i]});
  }
  return true;
}

}  // namespace cuda_cpu::graph
