// Graph management: a picture of a graph in the language of Graphviz.
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <unordered_map>
#include <variant>

#include "cuda_cpu/graph/graph.h"
#include "cuda_cpu/graph/graph_memory.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;
using tracing::support::MutexLock;

namespace {

struct Label {
  std::string operator()(KernelNode const& its) const {
    Kernel const* const kernel = registry().find_kernel(registry().host_function_of(its.function));
    return fmt::format("{}\\ngrid ({}, {}, {}) block ({}, {}, {})", kernel == nullptr ? "kernel" : kernel->name,
                       its.grid.x, its.grid.y, its.grid.z, its.block.x, its.block.y, its.block.z);
  }
  std::string operator()(MemcpyNode const& its) const {
    auto const& extent = its.copy.extent;
    return fmt::format("memcpy\\n{} x {} x {}", extent.width, extent.height, extent.depth);
  }
  std::string operator()(MemsetNode const& its) const {
    return fmt::format("memset\\n{} x {} elements of {} bytes", its.fill.width, its.fill.height, its.fill.elementSize);
  }
  std::string operator()(HostNode const&) const { return "host function"; }
  std::string operator()(ChildNode const&) const { return "graph"; }
  std::string operator()(EmptyNode const&) const { return "empty"; }
  std::string operator()(EventWaitNode const&) const { return "wait for event"; }
  std::string operator()(EventRecordNode const&) const { return "record event"; }
  std::string operator()(AllocNode const& its) const {
    return fmt::format("allocate\\n{} bytes", its.allocation->bytes);
  }
  std::string operator()(FreeNode const& its) const { return fmt::format("free\\n{} bytes", its.allocation->bytes); }
};

// Numbers the nodes in the order in which they were added. Draws a graph in a node as a box with its nodes.
void append(Graph const& graph, std::string const& prefix, std::string& text) TRACING_REQUIRES(graphs_mutex) {
  std::unordered_map<Node const*, std::string> names;
  for (auto const& node : graph.nodes()) {
    std::string const& name = names[node.get()] = fmt::format("{}n{}", prefix, names.size());
    text += fmt::format("  {} [label=\"{}\"];\n", name, std::visit(Label{}, node->params));
    if (auto const* const child = std::get_if<ChildNode>(&node->params)) {
      text += fmt::format("  subgraph cluster_{} {{\n", name);
      append(*child->graph, name + "_", text);
      text += "  }\n";
    }
  }
  for (auto const& node : graph.nodes())
    for (Edge const& edge : node->dependencies)
      text += fmt::format("  {} -> {};\n", names[edge.node], names[node.get()]);
}

}  // namespace

extern "C" {

// Ignores the flags: always prints the parameters by which a reader recognises nodes.
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, char const* path, unsigned) {
  return call([&]() -> cudaError_t {
    auto const graph = find_graph(handle);
    if (graph == nullptr || path == nullptr) return cudaErrorInvalidValue;
    std::string text = "digraph graph_1 {\n  node [shape=box];\n";
    {
      MutexLock const lock(graphs_mutex);
      append(*graph, "", text);
    }
    std::ofstream file(path);
    file << text << "}\n";
    return file.flush() ? cudaSuccess : refuse(cudaErrorOperatingSystem, fmt::format("could not write {}", path));
  });
}

}  // extern "C"
