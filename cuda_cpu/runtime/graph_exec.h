// GraphExec: an executable graph, made from a graph, which can be launched any number of times.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "cuda_cpu/runtime/graph.h"
#include "cuda_cpu/runtime/graph_memory.h"
#include "tracing_core/internal/mutex.h"

namespace cuda_cpu::runtime {

/// A launch gives the nodes to one stream, in an order in which each follows those that it waits for, so branches do
/// not run at the same time as each other. Launches of one GraphExec follow each other, whatever their streams.
///
/// Its mutex is locked before graphs_mutex.
class GraphExec {
 public:
  /// Of a copy of a graph that has no cycles.
  GraphExec(std::shared_ptr<Graph> copy, unsigned long long its_flags) TRACING_REQUIRES(graphs_mutex);
  GraphExec(GraphExec const&) = delete;
  GraphExec& operator=(GraphExec const&) = delete;
  ~GraphExec();

  CUresult launch(CUstream stream) TRACING_EXCLUDES(graphs_mutex);
  /// A copy of its graph as it is now, for a launch that is captured itself.
  std::shared_ptr<Graph> clone_graph() const TRACING_EXCLUDES(graphs_mutex);

  /// Calls `change` with a node, to replace what it does in later launches, given by its handle in the graph that this
  /// was made from or in one of the graphs in that.
  template <class Change>
  cudaError_t change_node(cudaGraphNode_t original, Change const& change) TRACING_EXCLUDES(graphs_mutex) {
    tracing::internal::MutexLock const lock(mutex_);
    auto const found = nodes_.find(original);
    return found == nodes_.end() ? cudaErrorInvalidValue : change(*found->second);
  }
  /// Takes what each node does from a graph that has the same nodes and edges, which were added in the same order.
  cudaGraphExecUpdateResultInfo update(Graph const& graph) TRACING_EXCLUDES(graphs_mutex);

  unsigned long long const flags;
  unsigned const number;  // from 1, for spans

 private:
  using Order = std::vector<Node*>;

  /// For the constructor, in which nobody else has this: without its mutex, which is locked before graphs_mutex.
  void collect(Graph const& graph) TRACING_NO_THREAD_SAFETY_ANALYSIS;
  CUresult allocate_all(Graph const& graph, CUstream stream, std::vector<GraphAllocation*>& allocated)
      TRACING_REQUIRES(mutex_);
  CUresult run_all(Graph const& graph, CUstream stream) TRACING_REQUIRES(mutex_);
  CUresult run(NodeParams const& params, CUstream stream) TRACING_REQUIRES(mutex_);

  std::shared_ptr<Graph> const graph_;
  mutable tracing::internal::Mutex mutex_;
  std::unordered_map<Graph const*, Order> orders_ TRACING_GUARDED_BY(mutex_);    // of the graph and those in it
  std::unordered_map<cudaGraphNode_t, Node*> nodes_ TRACING_GUARDED_BY(mutex_);  // by their originals
  std::vector<std::shared_ptr<void>> held_ TRACING_GUARDED_BY(mutex_);           // what a launch needs until it is done
  CUevent done_ TRACING_GUARDED_BY(mutex_) = nullptr;  // of the latest launch; null before the first
};

/// Gives the nodes of `to` what those of `from` do, if both have the same nodes and edges; else says where they differ.
cudaGraphExecUpdateResultInfo update_nodes(Graph const& from, Graph& to) TRACING_REQUIRES(graphs_mutex);

/// Null if the handle is of none.
std::shared_ptr<GraphExec> find_exec(cudaGraphExec_t handle);
std::shared_ptr<GraphExec> take_exec(cudaGraphExec_t handle);
cudaGraphExec_t add_exec(std::shared_ptr<GraphExec> exec);

}  // namespace cuda_cpu::runtime
