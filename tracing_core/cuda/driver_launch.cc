// Modules and launches of a Driver.
#include <algorithm>
#include <array>
#include <string>

#include "tracing_core/cuda/driver_state.h"
#include "tracing_core/cuda/host_calls.h"

namespace tracing::inline v1::cuda {
namespace {

// What a driver says of a module besides errors, line by line. It is asked for no statistics, so what it says nevertheless is
// a warning, such as that an entry cannot be run, or calls itself an information.
void tell_remarks(std::string_view log) {
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

}  // namespace

CUresult Driver::module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes) {
  TRACE_SPAN(trace, "module_load", tracing::kv("module", name), bytes, tracing::kv("device", state_->device.load()));
  std::array<char, 4096> errors{};
  std::array<char, 4096> remarks{};
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                     CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 4> values{errors.data(), reinterpret_cast<void*>(errors.size()), remarks.data(),
                              reinterpret_cast<void*>(remarks.size())};
  CUresult const result =
      state_->api.module_load_data_ex(module, image, static_cast<unsigned>(options.size()), options.data(), values.data());
  tell_remarks(remarks.data());
  auto const call = [&] { return fmt::format("cuModuleLoadDataEx({})", name); };
  if (result == CUDA_SUCCESS || errors.front() == '\0') return state_->tell(result, call);
  TRACE_ERROR("{}", std::string_view(errors.data()));
  state_->fail(result, call(), {});  // the log is what the driver knows of it
  return result;
}

CUresult Driver::module_unload(CUmodule module) {
  TRACE_SPAN(trace, "module_unload");
  // Before the call: the handles may be others' at once.
  auto names = state_->take_names(module);
  CUresult const result = state_->api.module_unload(module);
  if (result != CUDA_SUCCESS) state_->put_back(module, std::move(names));
  return told(result, "cuModuleUnload()");
}

Driver::State::Names Driver::State::take_names(CUmodule module) {
  Names names;
  std::lock_guard const lock(mutex);
  auto const [first, last] = functions.equal_range(module);
  for (auto i = first; i != last; ++i) {
    if (auto name = kernels.extract(i->second); !name.empty()) names.push_back(std::move(name));
  }
  functions.erase(first, last);
  return names;
}

void Driver::State::put_back(CUmodule module, Names names) {
  std::lock_guard const lock(mutex);
  for (auto& name : names) {
    CUfunction const function = name.key();
    if (kernels.insert(std::move(name)).inserted) functions.emplace(module, function);
  }
}

CUresult Driver::module_get_function(CUfunction* function, CUmodule module, char const* name) {
  CUresult const result = state_->api.module_get_function(function, module, name);
  if (result == CUDA_SUCCESS) {
    std::lock_guard const lock(state_->mutex);
    if (state_->kernels.insert_or_assign(*function, name).second) state_->functions.emplace(module, *function);
  }
  return state_->tell(result, [&] { return fmt::format("cuModuleGetFunction({})", name); });
}

std::string Driver::State::kernel_of(CUfunction function) const {
  std::lock_guard const lock(mutex);
  auto const found = kernels.find(function);
  return found == kernels.end() ? fmt::format("the function at {}", static_cast<void const*>(function)) : found->second;
}

bool Driver::State::is_capturing(Span const& span, CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (api.stream_is_capturing == nullptr || api.stream_is_capturing(stream, &status) != CUDA_SUCCESS) return false;
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return false;
  span.record(tracing::kv("capture", status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active" : "invalidated"));
  return true;
}

CUresult Driver::launch_kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream,
                               void** params) {
  State& state = *state_;
  Launch launch;
  launch.kernel = state.kernel_of(function);
  launch.grid = grid;
  launch.block = block;
  launch.stream = state.log.number_of(stream);
  internal::LaunchScope const numbered;
  launch.id = numbered.id();
  Span const span = TRACE_MAKE_SPAN(trace, "launch", tracing::kv("kernel.name", tracing::display(launch.kernel)),
                                    tracing::kv("grid", grid.fields()), tracing::kv("block", block.fields()),
                                    shared_bytes, tracing::kv("stream", launch.stream),
                                    tracing::kv("device", state.device.load()), tracing::kv("launch", launch.id),
                                    tracing::kv("blocking", state.blocking ? std::optional(true) : std::nullopt),
                                    tracing::kv("capture", tracing::empty));
  auto const entered = span.enter();
  launch.span = span;
  launch.at = std::chrono::steady_clock::now();
  auto const call = [&] {
    return fmt::format("cuLaunchKernel({}, grid ({}, {}, {}), block ({}, {}, {}), {} bytes shared, {})", launch.kernel, grid.x,
                       grid.y, grid.z, block.x, block.y, block.z, shared_bytes, state.text_of(stream));
  };
  // What is captured does not run, so it is not waited for.
  bool const runs = !state.is_capturing(span, stream);
  if (runs) state.log.begin(stream, launch);
  CUresult result = state.api.launch_kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes, stream,
                                            params, nullptr);
  if (runs && result == CUDA_SUCCESS) state.log.accept(launch.id);
  if (runs && result == CUDA_SUCCESS && state.blocking) {
    result = state.api.stream_synchronize(stream);
    if (result == CUDA_SUCCESS) {
      // Another thread may have observed the end first.
      if (Launch const ended = state.log.remove(launch.id); ended.id != 0) state.complete({ended}, state.blocking_by);
    }
  }
  // A launch that was refused is not what was wrong, unless the driver itself waits for its end.
  if (result != CUDA_SUCCESS && !state.blocking) state.log.remove(launch.id);
  state.tell(result, call);
  if (result != CUDA_SUCCESS) state.log.remove(launch.id);
  return result;
}

CUresult Driver::launch_host_func(CUstream stream, CUhostFn function, void* data) {
  Span const span = TRACE_MAKE_SPAN(trace, "launch_host_func", tracing::kv("stream", state_->log.number_of(stream)),
                                    tracing::kv("capture", tracing::empty));
  auto const entered = span.enter();
  auto const text = [&] { return fmt::format("cuLaunchHostFunc({})", state_->text_of(stream)); };
  // A graph may call it many times, or never, and says neither: so it is called as it is, in no span.
  if (state_->is_capturing(span, stream)) return state_->tell(state_->api.launch_host_func(stream, function, data), text);
  // Null is the driver's to refuse.
  void* const number = function == nullptr ? nullptr : HostCalls::add({function, data, span, state_.get()});
  CUresult const result = state_->api.launch_host_func(stream, function == nullptr ? nullptr : HostCalls::call, number);
  if (result != CUDA_SUCCESS) HostCalls::remove(number);
  return state_->tell(result, text);
}

}  // namespace tracing::inline v1::cuda
