// The methods of Driver for launches.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::launch"
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/cuda/driver/driver_state.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::MutexLock;

// The host functions that a driver has been given and has not called yet, each in the span of the call that added it to
// its stream. The driver gets a number in place of an address: if the context is lost, the driver never calls the
// functions, and what they hold is freed.
class HostCalls {
 public:
  static HostCalls& get() {
    static auto& instance = *new HostCalls;  // never destroyed: drivers call functions until the process ends
    return instance;
  }

  void* add(void const* driver, CUhostFn function, void* data, Span span) {
    MutexLock const lock(mutex_);
    calls_.emplace(++last_, HostCall{driver, function, data, std::move(span)});
    return reinterpret_cast<void*>(last_);
  }
  void remove(void* number) {
    std::unordered_map<std::uintptr_t, HostCall>::node_type removed;  // its span is closed without the lock
    MutexLock const lock(mutex_);
    removed = calls_.extract(reinterpret_cast<std::uintptr_t>(number));
  }
  void remove_all_of(void const* driver) {
    std::vector<HostCall> removed;
    MutexLock const lock(mutex_);
    std::erase_if(calls_, [&](auto& call) {
      if (call.second.driver != driver) return false;
      removed.push_back(std::move(call.second));
      return true;
    });
  }
  static void CUDA_CB run(void* number) {
    HostCalls& all = get();
    HostCall call;
    {
      MutexLock const lock(all.mutex_);
      auto found = all.calls_.extract(reinterpret_cast<std::uintptr_t>(number));
      if (found.empty()) return;
      call = std::move(found.mapped());
    }
    call.span.in_scope([&] { call.function(call.data); });
  }

 private:
  struct HostCall {
    void const* driver = nullptr;
    CUhostFn function = nullptr;
    void* data = nullptr;
    Span span;
  };
  tracing::support::Mutex mutex_;
  std::uintptr_t last_ TRACING_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uintptr_t, HostCall> calls_ TRACING_GUARDED_BY(mutex_);
};

// Most launches of a thread have the dimensions of the launch before.
thread_local constinit internal::DimText this_threads_grid, this_threads_block;

}  // namespace

char const* Driver::State::capture_of(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (api.stream_is_capturing == nullptr || api.stream_is_capturing(stream, &status) != CUDA_SUCCESS) return nullptr;
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return nullptr;
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active" : "invalidated";
}

void internal::DimText::make(Dim3 const& dim) noexcept {
  dim_ = dim;
  char* at = text_;
  *at++ = '(';
  for (unsigned const x : {dim.x, dim.y}) {
    at = std::to_chars(at, std::end(text_), x).ptr;
    *at++ = ',';
    *at++ = ' ';
  }
  at = std::to_chars(at, std::end(text_), dim.z).ptr;
  *at++ = ')';
  size_ = static_cast<std::size_t>(at - text_);
}

// The functions below are inlined into each kind of launch, since a launch is a hot path.
template <class MakePerf, class Call, class Describe>
[[gnu::always_inline]] inline CUresult Driver::State::follow(internal::LaunchScope const& numbered, CUfunction function,
                                                             Dim3 grid, Dim3 block, CUstream stream,
                                                             char const* capture, Span&& span,
                                                             MakePerf const& make_perf, Call const& call,
                                                             Describe const& describe) {
  State& state = *this;
  auto const entered = span.enter();  // keeps the span open, even if the log drops it during the call
  // A captured launch is not executed, so it is not outstanding, and nobody waits for it.
  bool const runs = capture == nullptr;
  LaunchLog::Added added;
  internal::DeviceCallScope const calling(state.log, stream, state.device.load(), numbered.id(), runs);
  if (runs) {
    Span perf = make_perf();
    added = state.log.begin(function, stream, {numbered.id(), grid, block}, std::move(span), std::move(perf));
  }
  CUresult result = call(added.is_first);
  if (!runs && result == CUDA_SUCCESS) TRACE_TRACE("captured");
  if (runs && result == CUDA_SUCCESS) {
    state.log.accept(added);
    TRACE_TRACE("launched");
    if (state.blocking) result = state.api.stream_synchronize(stream);
    if (state.blocking && result == CUDA_SUCCESS) {
      // Another thread may have observed the end first.
      if (Launch const ended = state.log.remove(added); ended.id != 0)
        state.report_completed({ended}, "cuStreamSynchronize");
    }
  }
  if (result == CUDA_SUCCESS) [[likely]]
    return result;
  // A refused launch cannot have caused the error. If launches block, its kernel may have run and failed.
  if (runs && !state.blocking) state.log.remove(added);
  state.check(result, "{}", describe());
  if (runs) state.log.remove(added);
  return result;
}

template <class Call>
[[gnu::always_inline]] inline CUresult Driver::State::launch(CUfunction function, Dim3 grid, Dim3 block,
                                                             unsigned shared_bytes, CUstream stream, char const* name,
                                                             Call const& call) {
  char const* const capture = capture_of(stream);
  internal::LaunchScope const numbered;
  std::optional<LaunchLog::Names> found;  // only for a span that is enabled
  auto const names = [&] {
    if (!found) found = log.names_of(function, stream);
    return *found;
  };
  Span span = TRACE_MAKE_SPAN(trace, "launch", tracing::kv("kernel.name", tracing::display(names().kernel)),
                              tracing::kv("grid", tracing::display(this_threads_grid.of(grid))),
                              tracing::kv("block", tracing::display(this_threads_block.of(block))), shared_bytes,
                              tracing::kv("stream", names().stream), tracing::kv("device", device.load()),
                              tracing::kv("launch", numbered.id()),
                              tracing::kv("blocking", blocking ? std::optional(true) : std::nullopt),
                              tracing::kv("capture", capture), tracing::kv("gpu.time", tracing::empty));
  auto const make_perf = [&] {
    return options.measures_launches ? Span()
                                     : TRACE_MAKE_PERF("gpu_execute_program", tracing::kv("grid_size", grid.count()),
                                                       tracing::kv("block_size", block.count()));
  };
  auto const call_and_report = [&](bool is_first) {
    CUresult const result = call();
    if (is_first && result == CUDA_SUCCESS) [[unlikely]]
      report_use(function, log.name_of(function));
    return result;
  };
  return follow(numbered, function, grid, block, stream, capture, std::move(span), make_perf, call_and_report, [&] {
    return fmt::format("{}({}, grid ({}, {}, {}), block ({}, {}, {}), {} bytes shared, {})", name, shown(function),
                       grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, shown(stream));
  });
}

CUresult Driver::launch_kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream,
                               void** params, void** extra, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  return state_->launch(function, grid, block, shared_bytes, stream, "cuLaunchKernel", [&] {
    return state_->api.launch_kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream,
                                     params, extra);
  });
}

CUresult Driver::launch_cooperative_kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes,
                                           CUstream stream, void** params, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  return state_->launch(function, grid, block, shared_bytes, stream, "cuLaunchCooperativeKernel", [&] {
    return state_->api.launch_cooperative_kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                 shared_bytes, stream, params);
  });
}

CUresult Driver::launch_kernel_ex(CUlaunchConfig const& config, CUfunction function, void** params, void** extra,
                                  Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  return state_->launch(
      function, {config.gridDimX, config.gridDimY, config.gridDimZ},
      {config.blockDimX, config.blockDimY, config.blockDimZ}, config.sharedMemBytes, config.hStream, "cuLaunchKernelEx",
      [&] { return State::if_there(state_->api.launch_kernel_ex, &config, function, params, extra); });
}

Driver::State::Graph Driver::State::graph_of(CUgraphExec exec) {
  MutexLock const lock(mutex);
  auto const found = graphs.find(exec);
  return found == graphs.end() ? Graph() : found->second;
}

CUresult Driver::graph_launch(CUgraphExec exec, CUstream stream, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  State& state = *state_;
  char const* const capture = state.capture_of(stream);
  internal::LaunchScope const numbered;
  State::Graph const graph = state.graph_of(exec);
  Span span = TRACE_MAKE_SPAN(trace, "graph_launch", tracing::kv("graph", graph.number),
                              tracing::kv("nodes", graph.nodes), tracing::kv("stream", state.log.number_of(stream)),
                              tracing::kv("launch", numbered.id()), tracing::kv("capture", capture));
  return state.follow(
      numbered, reinterpret_cast<CUfunction>(exec), {}, {}, stream, capture, std::move(span), [] { return Span(); },
      [&](bool) { return State::if_there(state.api.graph_launch, exec, stream); },
      [&] { return fmt::format("cuGraphLaunch(graph {}, {})", graph.number, state.shown(stream)); });
}

void Driver::State::free_host_calls() { HostCalls::get().remove_all_of(this); }

CUresult Driver::launch_host_func(CUstream stream, CUhostFn function, void* data, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  char const* const capture = state_->capture_of(stream);
  Span const span = TRACE_MAKE_SPAN(trace, "launch_host_func", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", capture));
  auto const entered = span.enter();
  // Passes the function on unwrapped in two cases: if it is captured, since a graph may call it any number of times,
  // and if it is null, since the driver then reports the error.
  if (capture != nullptr || function == nullptr)
    return state_->check(state_->api.launch_host_func(stream, function, data), "cuLaunchHostFunc({})", stream);
  void* const number = HostCalls::get().add(state_.get(), function, data, span);
  CUresult const result = state_->api.launch_host_func(stream, HostCalls::run, number);
  if (result != CUDA_SUCCESS) HostCalls::get().remove(number);
  return state_->check(result, "cuLaunchHostFunc({})", stream);
}

}}}  // namespace tracing::v1::cuda
