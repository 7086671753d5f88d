// The methods of Driver for modules and launches.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/cuda/driver/driver_state.h"
#include "tracing_core/cuda/driver/kernel_name.h"
#include "tracing_core/cuda/stopwatch.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

using tracing::support::MutexLock;

// Emits the information log of a module load line by line. Since we request no statistics, a line is a warning, for
// example that a kernel cannot be run, unless it is marked as information.
void report_load_log(std::string_view log) {
  while (!log.empty()) {
    std::string_view const line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    if (line.starts_with("info") || line.starts_with("ptxas info")) {
      TRACE_DEBUG("{}", line);
    } else {
      TRACE_WARN("{}", line);
    }
  }
}

// The registers and memory that a kernel uses. If it was compiled from PTX, only the driver knows them.
struct Use {
  std::optional<int> registers, shared_bytes, local_bytes;

  static Use of(DriverApi const& api, CUfunction function) {
    auto const attribute = [&](CUfunction_attribute which) -> std::optional<int> {
      int value = 0;
      if (api.func_get_attribute == nullptr) return std::nullopt;
      return api.func_get_attribute(&value, which, function) == CUDA_SUCCESS ? std::optional(value) : std::nullopt;
    };
    return {attribute(CU_FUNC_ATTRIBUTE_NUM_REGS), attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
            attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)};
  }
};

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

}  // namespace

CUresult Driver::module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes) {
  return module_load(module, image, name, bytes, 0, nullptr, nullptr);
}

CUresult Driver::module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes,
                             unsigned count, CUjit_option* options, void** values) {
  Span const span =
      TRACE_MAKE_SPAN(debug, "module_load", tracing::kv("module", name), bytes,
                      tracing::kv("device", state_->device.load()), tracing::kv("duration_ms", tracing::empty));
  auto const entered = span.enter();
  std::array<char, 4096> errors{};
  std::array<char, 4096> remarks{};
  std::array logs{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 4> log_values{errors.data(), reinterpret_cast<void*>(errors.size()), remarks.data(),
                                  reinterpret_cast<void*>(remarks.size())};
  internal::Stopwatch const watch;
  CUresult const result = count > 0 ? state_->api.module_load_data_ex(module, image, count, options, values)
                                    : state_->api.module_load_data_ex(module, image, static_cast<unsigned>(logs.size()),
                                                                      logs.data(), log_values.data());
  double const duration_ms = watch.ms();
  report_load_log(remarks.data());
  if (result == CUDA_SUCCESS) {
    TRACE_DEBUG("loaded", duration_ms);
    span.record(tracing::kv("duration_ms", duration_ms));
    MutexLock const lock(state_->mutex);
    state_->modules[*module] = name;
  }
  if (result == CUDA_SUCCESS || errors.front() == '\0') return state_->check(result, "cuModuleLoadDataEx({})", name);
  TRACE_ERROR("{}", std::string_view(errors.data()));
  // DriverOptions::last_message is left out, since it repeats the log.
  state_->report_error(result, fmt::format("cuModuleLoadDataEx({})", name), {});
  return result;
}

CUresult Driver::module_unload(CUmodule module) {
  std::optional<std::string> name;
  {
    MutexLock const lock(state_->mutex);  // before the call: handles may be reused at once
    if (auto known = state_->modules.extract(module)) name = std::move(known.mapped());
  }
  state_->log.remove_kernels(module);
  TRACE_SPAN(trace, "module_unload", tracing::kv("module", name), tracing::kv("device", state_->device.load()));
  return check(state_->api.module_unload(module), "cuModuleUnload()");
}

CUresult Driver::module_get_function(CUfunction* function, CUmodule module, char const* name) {
  CUresult const result = state_->api.module_get_function(function, module, name);
  if (result == CUDA_SUCCESS) state_->log.add_kernel(*function, module, kernel_name(name));
  if (result == CUDA_SUCCESS) state_->report_found(*function, name);
  return state_->check(result, "cuModuleGetFunction({})", name);
}

bool Driver::State::loads_lazily() const noexcept {
  CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
  return api.module_get_loading_mode != nullptr && api.module_get_loading_mode(&mode) == CUDA_SUCCESS &&
         mode == CU_MODULE_LAZY_LOADING;
}

void Driver::State::report_found(CUfunction function, char const* symbol) const {
  if (!TRACE_ENABLED(debug)) return;
  Use const use = loads_lazily() ? Use() : Use::of(api, function);
  TRACE_DEBUG("found kernel", tracing::kv("kernel.name", tracing::display(kernel_name(symbol))),
              tracing::kv("registers", use.registers), tracing::kv("shared_bytes", use.shared_bytes),
              tracing::kv("local_bytes", use.local_bytes));
}

void Driver::State::report_use(CUfunction function, std::string_view kernel) const {
  if (!TRACE_ENABLED(debug) || !loads_lazily()) return;
  Use const use = Use::of(api, function);
  TRACE_DEBUG("kernel uses", tracing::kv("kernel.name", tracing::display(kernel)),
              tracing::kv("registers", use.registers), tracing::kv("shared_bytes", use.shared_bytes),
              tracing::kv("local_bytes", use.local_bytes));
}

char const* Driver::State::capture_of(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (api.stream_is_capturing == nullptr || api.stream_is_capturing(stream, &status) != CUDA_SUCCESS) return nullptr;
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return nullptr;
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active" : "invalidated";
}

internal::DimText::DimText(Dim3 const& dim) noexcept {
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
  Span span = TRACE_MAKE_SPAN(trace, "launch", tracing::kv("kernel.name", tracing::display(log.name_of(function))),
                              tracing::kv("grid", tracing::display(internal::DimText(grid).view())),
                              tracing::kv("block", tracing::display(internal::DimText(block).view())), shared_bytes,
                              tracing::kv("stream", log.number_of(stream)), tracing::kv("device", device.load()),
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
                               void** params, void** extra) {
  return state_->launch(function, grid, block, shared_bytes, stream, "cuLaunchKernel", [&] {
    return state_->api.launch_kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream,
                                     params, extra);
  });
}

CUresult Driver::launch_cooperative_kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes,
                                           CUstream stream, void** params) {
  return state_->launch(function, grid, block, shared_bytes, stream, "cuLaunchCooperativeKernel", [&] {
    return state_->api.launch_cooperative_kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                 shared_bytes, stream, params);
  });
}

CUresult Driver::launch_kernel_ex(CUlaunchConfig const& config, CUfunction function, void** params, void** extra) {
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

CUresult Driver::graph_launch(CUgraphExec exec, CUstream stream) {
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

CUresult Driver::launch_host_func(CUstream stream, CUhostFn function, void* data) {
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
