// GraphExec: an executable graph, made from a graph, which can be launched any number of times.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "cuda_cpu/graph/graph.h"
#include "cuda_cpu/graph/graph_memory.h"
#include "tracing_core/cuda/driver.h"
#include "tracing_core/support/mutex.h"

namespace cuda_cpu::graph {

/// A launch gives the nodes to one stream, each after the nodes that it waits for. So branches do not run at the same
/// time. Launches of one GraphExec follow each other, whatever their streams.
///
/// Its mutex is locked before graphs_mutex.
class GraphExec {
 public:
  /// Takes a copy of a graph, which must have no cycles. `driver` makes the calls of the launches and must outlive
  /// this.
  GraphExec(std::shared_ptr<Graph> copy, unsigned long long its_flags, tracing::cuda::Driver& driver)
      TRACING_REQUIRES(graphs_mutex);
  GraphExec(GraphExec const&) = delete;
  GraphExec& operator=(GraphExec const&) = delete;
  ~GraphExec();

  CUresult launch(CUstream stream) TRACING_EXCLUDES(graphs_mutex);
  /// Returns a copy of the graph in its present state, for a launch that is captured itself.
  std::shared_ptr<Graph> clone_graph() const TRACING_EXCLUDES(graphs_mutex);

  /// Calls `change(Node&)` to replace the work of a node in later launches. `original` is the node's handle in the
  /// graph from which this was made, or in a graph inside it.
  template <class Change>
  cudaError_t change_node(cudaGraphNode_t original, Change const& change) TRACING_EXCLUDES(graphs_mutex) {
    tracing::support::MutexLock const lock(mutex_);
    auto const found = nodes_.find(original);
    return found == nodes_.end() ? cudaErrorInvalidValue : change(*found->second);
  }
  /// Gives each node the parameters of its counterpart in a graph with equal nodes and edges, added in equal order.
  cudaGraphExecUpdateResultInfo update(Graph const& graph) TRACING_EXCLUDES(graphs_mutex);

  unsigned long long const flags;
  unsigned const number;  // from 1, for spans

 private:
  using Order = std::vector<Node*>;

  /// Called by the constructor, before others have this object. Does not lock mutex_: graphs_mutex is locked already.
  void collect(Graph const& graph) TRACING_NO_THREAD_SAFETY_ANALYSIS;
  CUresult allocate_all(Graph const& graph, CUstream stream, std::vector<GraphAllocation*>& allocated)
      TRACING_REQUIRES(mutex_);
  CUresult run_all(Graph const& graph, CUstream stream) TRACING_REQUIRES(mutex_);
  CUresult run(NodeParams const& params, CUstream stream) TRACING_REQUIRES(mutex_);

  tracing::cuda::Driver& driver_;
  std::shared_ptr<Graph> const graph_;
  mutable tracing::support::Mutex mutex_;
  std::unordered_map<Graph const*, Order> orders_ TRACING_GUARDED_BY(mutex_);    // of the graph and the graphs in it
  std::unordered_map<cudaGraphNode_t, Node*> nodes_ TRACING_GUARDED_BY(mutex_);  // by the handles of their originals
  std::vector<std::shared_ptr<void>> held_ TRACING_GUARDED_BY(mutex_);           // needed until a launch is done
  CUevent done_ TRACING_GUARDED_BY(mutex_) = nullptr;  // of the latest launch; null before the first
};

/// If both graphs have equal nodes and edges, gives the nodes of `to` the parameters of the nodes of `from`. Otherwise
/// says where the graphs differ.
cudaGraphExecUpdateResultInfo update_nodes(Graph const& from, Graph& to) TRACING_REQUIRES(graphs_mutex);

/// Return null if no executable graph has this handle. take_exec() ends the handle.
std::shared_ptr<GraphExec> find_exec(cudaGraphExec_t handle);
std::shared_ptr<GraphExec> take_exec(cudaGraphExec_t handle);
cudaGraphExec_t add_exec(std::shared_ptr<GraphExec> exec);

}  // namespace cuda_cpu::graph
