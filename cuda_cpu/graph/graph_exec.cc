#define TRACE_TARGET "tracing::cuda::launch"
#include "cuda_cpu/graph/graph_exec.h"

#include <atomic>
#include <utility>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/copies.h"
#include "cuda_cpu/graph/user_objects.h"
#include "tracing_core/emit/for_callers.h"

namespace cuda_cpu::graph {
namespace {

using tracing::support::MutexLock;

constinit std::atomic<unsigned> last_number{0};

cpu::Handles<GraphExec>& handles() {
  static auto& its = *new cpu::Handles<GraphExec>{0x7400'0000};
  return its;
}

CUdeviceptr address(void const* pointer) noexcept { return reinterpret_cast<CUdeviceptr>(pointer); }
void const* pointer_of(GraphAllocation const& its) noexcept { return reinterpret_cast<void const*>(its.address); }

using tracing::cuda::Driver;

// Copies by the driver's most general call.
CUresult copy_3d(Driver& driver, cudaMemcpy3DParms const& its, CUstream stream) {
  CUDA_MEMCPY3D copy{};
  cudaError_t const error = to_driver(its, copy);
  return error == cudaSuccess ? driver.memcpy_3d_async(copy, stream) : static_cast<CUresult>(error);
}

CUresult copy(Driver& driver, cudaMemcpy3DParms const& its, CUstream stream) {
  Direction direction{};
  if (!is_linear(its)) return copy_3d(driver, its, stream);
  void* const to = its.dstPtr.ptr;
  void const* const from = its.srcPtr.ptr;
  if (cudaError_t const error = direction_of(its.kind, to, from, &direction); error != cudaSuccess)
    return static_cast<CUresult>(error);
  switch (direction) {
    case Direction::host_to_device: return driver.memcpy_htod_async(address(to), from, its.extent.width, stream);
    case Direction::device_to_host: return driver.memcpy_dtoh_async(to, address(from), its.extent.width, stream);
    case Direction::device_to_device:
      return driver.memcpy_dtod_async(address(to), address(from), its.extent.width, stream);
    case Direction::host_to_host: break;
  }
  return copy_3d(driver, its, stream);
}

CUresult fill(Driver& driver, cudaMemsetParams const& its, CUstream stream) {
  if (its.height <= 1 && its.elementSize == 1)
    return driver.memset_d8_async(address(its.dst), static_cast<unsigned char>(its.value), its.width, stream);
  if (its.height <= 1 && its.elementSize == 4)
    return driver.memset_d32_async(address(its.dst), its.value, its.width, stream);
  if (its.elementSize == 1)
    return driver.memset_d2d8_async(address(its.dst), its.pitch, static_cast<unsigned char>(its.value), its.width,
                                    its.height, stream);
  if (its.elementSize == 2)
    return driver.memset_d2d16_async(address(its.dst), its.pitch, static_cast<unsigned short>(its.value), its.width,
                                     its.height, stream);
  return driver.memset_d2d32_async(address(its.dst), its.pitch, its.value, its.width, its.height, stream);
}

}  // namespace

GraphExec::GraphExec(std::shared_ptr<Graph> copy, unsigned long long its_flags, Driver& driver)
    : flags(its_flags), number(++last_number), driver_(driver), graph_(std::move(copy)) {
  take_graph(graph_->handle);  // the program does not see it
  collect(*graph_);
}

// Uses the backend's calls for its event, here and below, not the table with captures: the event is not the program's.
GraphExec::~GraphExec() {
  if (done_ != nullptr) cpu::event_destroy(done_);
}

void GraphExec::collect(Graph const& graph) {
  orders_[&graph] = *graph.order();
  for (auto const& [object, count] : graph.user_objects) held_.push_back(object);
  for (auto const& node : graph.nodes()) {
    nodes_[node->original] = node.get();
    if (auto const* const child = std::get_if<ChildNode>(&node->params)) collect(*child->graph);
    if (auto const* const alloc = std::get_if<AllocNode>(&node->params)) held_.push_back(alloc->allocation);
    if (auto const* const free = std::get_if<FreeNode>(&node->params)) held_.push_back(free->allocation);
  }
}

CUresult GraphExec::launch(CUstream stream) {
  MutexLock const lock(mutex_);
  TRACE_SPAN(trace, "graph_launch", tracing::kv("graph", number), tracing::kv("nodes", orders_[graph_.get()].size()),
             tracing::kv("stream", driver_.number_of(stream)));
  CUresult result = done_ == nullptr ? cpu::event_create(&done_, CU_EVENT_DISABLE_TIMING)
                                     : cpu::stream_wait_event(stream, done_, CU_EVENT_WAIT_DEFAULT);
  std::vector<GraphAllocation*> allocated;
  if (result == CUDA_SUCCESS) result = allocate_all(*graph_, stream, allocated);
  if (result != CUDA_SUCCESS) {  // no node has run
    for (GraphAllocation* const its : allocated) its->free();
  }
  if (result == CUDA_SUCCESS) result = run_all(*graph_, stream);
  if (!held_.empty()) {
    auto& device = *cpu::Device::get();
    if (auto const on = device.find_stream(stream)) device.submit(on, [held = held_] {});
  }
  CUresult const recorded = cpu::event_record(done_, stream);
  return result == CUDA_SUCCESS ? recorded : result;
}

// Allocates before any node runs. Adds each allocation to `allocated`, even if a later one fails.
CUresult GraphExec::allocate_all(Graph const& graph, CUstream stream, std::vector<GraphAllocation*>& allocated) {
  for (Node const* const node : orders_[&graph]) {
    if (auto const* const child = std::get_if<ChildNode>(&node->params)) {
      if (CUresult const result = allocate_all(*child->graph, stream, allocated); result != CUDA_SUCCESS) return result;
    }
    auto const* const its = std::get_if<AllocNode>(&node->params);
    if (its == nullptr) continue;
    TRACE_SPAN(trace, "mem_alloc_async", tracing::kv("bytes", its->allocation->bytes), tracing::kv("device", 0),
               tracing::kv("stream", driver_.number_of(stream)));
    if (its->allocation->allocate()) {
      TRACE_TRACE("allocated", tracing::kv("pointer", pointer_of(*its->allocation)));
      allocated.push_back(its->allocation.get());
      continue;
    }
    if ((flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0) continue;
    return driver_.check(
        cpu::refuse(CUDA_ERROR_INVALID_VALUE,
                    "memory that the graph allocates is still allocated by its last launch; free it, or "
                    "instantiate the graph with cudaGraphInstantiateFlagAutoFreeOnLaunch"),
        "cuGraphLaunch()");
  }
  return CUDA_SUCCESS;
}

CUresult GraphExec::run_all(Graph const& graph, CUstream stream) {
  tracing::internal::SilenceScope const heard(false);  // a Driver of the program records only the graph's launch
  cpu::CopiesInTurn const scope;
  for (Node const* const node : orders_[&graph]) {
    if (!node->is_enabled) continue;
    if (CUresult const result = run(node->params, stream); result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult GraphExec::run(NodeParams const& params, CUstream stream) {
  struct Run {
    GraphExec& exec;
    CUstream stream;

    CUresult operator()(KernelNode const& its) const {
      return exec.driver_.launch_kernel(its.function, its.grid, its.block, its.shared_bytes, stream,
                                        its.arguments->pointers());
    }
    CUresult operator()(MemcpyNode const& its) const { return copy(exec.driver_, its.copy, stream); }
    CUresult operator()(MemsetNode const& its) const { return fill(exec.driver_, its.fill, stream); }
    CUresult operator()(HostNode const& its) const {
      return exec.driver_.launch_host_func(stream, its.function, its.data);
    }
    CUresult operator()(ChildNode const& its) const TRACING_REQUIRES(exec.mutex_) {
      return exec.run_all(*its.graph, stream);
    }
    CUresult operator()(EmptyNode const&) const { return CUDA_SUCCESS; }
    CUresult operator()(EventWaitNode const& its) const { return exec.driver_.stream_wait_event(stream, its.event, 0); }
    CUresult operator()(EventRecordNode const& its) const { return exec.driver_.event_record(its.event, stream); }
    CUresult operator()(AllocNode const&) const { return CUDA_SUCCESS; }  // by allocate_all()
    CUresult operator()(FreeNode const& its) const {
      TRACE_SPAN(trace, "mem_free_async", tracing::kv("pointer", pointer_of(*its.allocation)), tracing::kv("device", 0),
                 tracing::kv("stream", exec.driver_.number_of(stream)));
      if (!its.allocation->free())
        return exec.driver_.check(cpu::refuse(CUDA_ERROR_INVALID_VALUE, "memory that the graph frees is not allocated"),
                                  "cuGraphLaunch()");
      TRACE_TRACE("freed", tracing::kv("bytes", its.allocation->bytes));
      return CUDA_SUCCESS;
    }
  };
  return std::visit(Run{*this, stream}, params);
}

std::shared_ptr<Graph> GraphExec::clone_graph() const {
  MutexLock const lock(mutex_);
  MutexLock const graphs_lock(graphs_mutex);
  return graph_->clone();
}

cudaGraphExecUpdateResultInfo GraphExec::update(Graph const& graph) {
  MutexLock const lock(mutex_);
  MutexLock const graphs_lock(graphs_mutex);
  return update_nodes(graph, *graph_);
}

std::shared_ptr<GraphExec> find_exec(cudaGraphExec_t handle) { return handles().find(handle); }
std::shared_ptr<GraphExec> take_exec(cudaGraphExec_t handle) { return handles().take(handle); }
cudaGraphExec_t add_exec(std::shared_ptr<GraphExec> exec) {
  return reinterpret_cast<cudaGraphExec_t>(handles().add(std::move(exec)));
}

}  // namespace cuda_cpu::graph
