// The methods of Driver for modules, libraries and their kernels. The driver compiles PTX when it loads a module.
#undef TRACE_TARGET
#define TRACE_TARGET "tracing::cuda::compile"
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace

CUresult Driver::module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes,
                             Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  return module_load(module, image, name, bytes, 0, nullptr, nullptr);
}

CUresult Driver::module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes,
                             unsigned count, CUjit_option* options, void** values, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
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

CUresult Driver::module_unload(CUmodule module, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  std::optional<std::string> name;
  {
    MutexLock const lock(state_->mutex);  // before the call: handles may be reused at once
    if (auto known = state_->modules.extract(module)) name = std::move(known.mapped());
  }
  state_->log.remove_kernels(module);
  TRACE_SPAN(trace, "module_unload", tracing::kv("module", name), tracing::kv("device", state_->device.load()));
  return check(state_->api.module_unload(module), "cuModuleUnload()");
}

CUresult Driver::module_get_function(CUfunction* function, CUmodule module, char const* name, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
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

CUresult Driver::library_load(CUlibrary* library, void const* image, std::string_view name, std::size_t bytes,
                              Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  Span const span =
      TRACE_MAKE_SPAN(debug, "library_load", tracing::kv("library", name), bytes,
                      tracing::kv("device", state_->device.load()), tracing::kv("duration_ms", tracing::empty));
  auto const entered = span.enter();
  std::array<char, 4096> errors{};
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{errors.data(), reinterpret_cast<void*>(errors.size())};
  internal::Stopwatch const watch;
  CUresult const result = State::if_there(state_->api.library_load_data, library, image, options.data(), values.data(),
                                          static_cast<unsigned>(options.size()), static_cast<CUlibraryOption*>(nullptr),
                                          static_cast<void**>(nullptr), 0U);
  double const duration_ms = watch.ms();
  if (result == CUDA_SUCCESS) {
    TRACE_DEBUG("loaded", duration_ms);
    span.record(tracing::kv("duration_ms", duration_ms));
    MutexLock const lock(state_->mutex);
    state_->libraries[*library] = name;
  } else if (errors.front() != '\0') {
    TRACE_ERROR("{}", std::string_view(errors.data()));
  }
  return state_->check(result, "cuLibraryLoadData({})", name);
}

CUresult Driver::library_unload(CUlibrary library, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  std::string name;
  {
    MutexLock const lock(state_->mutex);
    if (auto known = state_->libraries.extract(library)) name = std::move(known.mapped());
  }
  TRACE_SPAN(trace, "library_unload", tracing::kv("library", name));
  return check(State::if_there(state_->api.library_unload, library), "cuLibraryUnload()");
}

CUresult Driver::library_get_function(CUfunction* function, CUlibrary library, char const* name, Caller caller) {
  tracing::internal::CallerScope const called(caller, this);
  CUkernel kernel = nullptr;
  CUresult result = State::if_there(state_->api.library_get_kernel, &kernel, library, name);
  if (result == CUDA_SUCCESS) result = State::if_there(state_->api.kernel_get_function, function, kernel);
  if (result == CUDA_SUCCESS) {
    state_->log.add_kernel(*function, nullptr, kernel_name(name));
    TRACE_DEBUG("found kernel", tracing::kv("kernel.name", tracing::display(kernel_name(name))));
  }
  return state_->check(result, "cuLibraryGetKernel({})", name);
}

}}}  // namespace tracing::v1::cuda
