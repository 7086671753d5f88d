// Implements the calls about modules, their functions and variables.
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <variant>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/fatbin/choose.h"
#include "cuda_cpu/ptx/parse.h"
#include "tracing_core/cuda/driver/kernel_name.h"

namespace cuda_cpu::cpu {
namespace {

// The log of a load: the caller's buffer and its size, either of which may be missing.
struct JitLog {
  char* buffer = nullptr;
  void** size = nullptr;  // in: the capacity; out: the bytes written

  void write(std::string_view text) const {
    if (size == nullptr) return;
    auto const capacity = reinterpret_cast<std::uintptr_t>(*size) & 0xffffffffu;  // an unsigned int passed as a pointer
    std::size_t written = 0;
    if (buffer != nullptr && capacity > 0) {
      written = text.copy(buffer, capacity - 1);
      buffer[written] = '\0';
    }
    *size = reinterpret_cast<void*>(written);
  }
};

struct JitLogs {
  JitLog info;
  JitLog error;
};

// Reads the options of a load. Returns false if an option is invalid.
bool read_options(unsigned count, CUjit_option const* options, void** values, JitLogs& logs) {
  if (count != 0 && (options == nullptr || values == nullptr)) return false;
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: logs.info.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: logs.info.size = &values[i]; break;
      case CU_JIT_ERROR_LOG_BUFFER: logs.error.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: logs.error.size = &values[i]; break;
      default:
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return false;
    }
  }
  return true;
}

CUresult fail(JitLogs const& logs, CUresult code, std::string const& message) {
  logs.error.write(message);
  return refuse(code, message);
}

CUresult code_of(fatbin::ErrorKind kind) noexcept {
  switch (kind) {
    case fatbin::ErrorKind::malformed: return CUDA_ERROR_INVALID_IMAGE;
    case fatbin::ErrorKind::no_ptx: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case fatbin::ErrorKind::unsupported: return CUDA_ERROR_NOT_SUPPORTED;
    case fatbin::ErrorKind::link: return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_ERROR_UNKNOWN;
}

// Returns 90 for ".version 9.0"; zero if the text has no version.
int ptx_version(std::string_view text) noexcept {
  constexpr std::string_view kDirective = ".version";
  auto const at = text.find(kDirective);
  if (at == text.npos) return 0;
  auto const* digit = text.data() + at + kDirective.size();
  auto const* const end = text.data() + text.size();
  while (digit != end && (*digit == ' ' || *digit == '\t')) ++digit;
  int major = 0;
  int minor = 0;
  auto const read = std::from_chars(digit, end, major);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != '.') return 0;
  std::from_chars(read.ptr + 1, end, minor);
  return major * 10 + minor;
}

// Returns 90 for "sm_90a"; zero for other texts.
int capability_of(std::string_view target) noexcept {
  int capability = 0;
  if (target.starts_with("sm_")) std::from_chars(target.data() + 3, target.data() + target.size(), capability);
  return capability;
}

std::string refusals_of(ptx::Module const& module) {
  std::string text;
  for (auto const& function : module.functions()) {
    if (function.is_entry && function.refusal)
      text += function.name + " cannot be run: " + function.refusal->message + '\n';
  }
  return text;
}

CUresult load(Device& device, CUmodule* out, std::string_view text, JitLogs const& logs) {
  auto const version = ptx_version(text);
  if (version == 0) return fail(logs, CUDA_ERROR_INVALID_IMAGE, "not PTX: .version is missing");
  if (version > kNewestPtxVersion) {
    return fail(logs, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                fmt::format("PTX version {}.{}; expected at most 9.0", version / 10, version % 10));
  }
  auto const parsed = ptx::parse(text);
  if (auto const* const diagnostic = std::get_if<ptx::Diagnostic>(&parsed)) {
    return fail(logs, CUDA_ERROR_INVALID_PTX, "ptx input, " + diagnostic->to_string());
  }
  auto const& module = std::get<0>(parsed);
  // PTX for a device newer than this one is accepted up to kNewestTarget: all of its instructions may be supported
  // here.
  if (capability_of(module->target()) > fatbin::kNewestTarget) {
    return fail(logs, CUDA_ERROR_NO_BINARY_FOR_GPU,
                fmt::format("PTX for {}; expected at most sm_{}", module->target(), fatbin::kNewestTarget));
  }
  auto program = Program::load(module, device.memory);
  if (program == nullptr)
    return fail(logs, CUDA_ERROR_OUT_OF_MEMORY,
                "not enough memory for the variables of the module; TRACE_CUDA_MEMORY sets the size of the memory");
  auto loaded = std::make_shared<LoadedModule>();
  loaded->program = std::move(program);
  *out = reinterpret_cast<CUmodule>(device.modules.add(std::move(loaded)));
  logs.info.write(refusals_of(*module));
  logs.error.write({});
  return CUDA_SUCCESS;
}

// Loads an image: PTX, a fat binary or machine code.
CUresult load_image(Device& device, CUmodule* out, void const* image, JitLogs const& logs) {
  auto const* const characters = static_cast<char const*>(image);
  if (std::string_view(characters)
          .starts_with("\x7f"
                       "ELF")) {
    return fail(logs, CUDA_ERROR_NO_BINARY_FOR_GPU, "machine code for a GPU; expected PTX");
  }
  if (!fatbin::is_container(image) && !fatbin::is_wrapper(image)) return load(device, out, characters, logs);
  auto const found = fatbin::find_ptx(image, kCapability);
  if (auto const* const error = std::get_if<fatbin::Error>(&found))
    return fail(logs, code_of(error->kind), error->message);
  return load(device, out, std::get<0>(found).text, logs);
}

int constant_bytes(ptx::Module const& module) noexcept {
  std::uint64_t bytes = 0;
  for (auto const& variable : module.variables())
    bytes += variable.space == ptx::Space::constant ? variable.size_bytes : 0;
  return static_cast<int>(bytes);
}

}  // namespace

CUresult module_load_data_ex(CUmodule* out, void const* image, unsigned count, CUjit_option* options, void** values) {
  return in_context([&](Device& device) {
    JitLogs logs;
    if (out == nullptr || image == nullptr || !read_options(count, options, values, logs))
      return CUDA_ERROR_INVALID_VALUE;
    device.prints.flush();
    return load_image(device, out, image, logs);
  });
}

CUresult module_unload(CUmodule handle) {
  return in_context([&](Device& device) {
    auto const module = device.modules.take(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    device.functions.take_if([&](LoadedFunction const& function) { return function.program == module->program; });
    device.prints.flush();
    return CUDA_SUCCESS;
  });
}

CUresult module_get_function(CUfunction* out, CUmodule handle, char const* name) {
  return in_context([&](Device& device) {
    if (out == nullptr || name == nullptr || *name == '\0') return CUDA_ERROR_INVALID_VALUE;
    auto const module = device.modules.find(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    MutexLock const lock(module->mutex);
    if (auto const known = module->functions.find(std::string_view(name)); known != module->functions.end()) {
      *out = known->second;
      return CUDA_SUCCESS;
    }
    auto const* const entry = module->program->module().find_entry(name);
    if (entry == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (entry->refusal) return refuse(CUDA_ERROR_NOT_SUPPORTED, entry->refusal->message);
    auto function = std::make_shared<LoadedFunction>();
    function->program = module->program;
    function->function = entry;
    function->kernel = module->program->find_kernel(name);
    function->name = tracing::cuda::kernel_name(name);
    function->max_dynamic_shared_bytes = kSharedBytes - static_cast<int>(entry->static_shared_bytes);
    *out = reinterpret_cast<CUfunction>(device.functions.add(std::move(function)));
    module->functions.emplace(name, *out);
    return CUDA_SUCCESS;
  });
}

CUresult module_get_global(CUdeviceptr* address, std::size_t* bytes, CUmodule handle, char const* name) {
  return in_context([&](Device& device) {
    if ((address == nullptr && bytes == nullptr) || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto const module = device.modules.find(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto const variable = module->program->find_variable(name);
    if (variable.address == 0) return CUDA_ERROR_NOT_FOUND;
    if (address != nullptr) *address = variable.address;
    if (bytes != nullptr) *bytes = variable.bytes;
    return CUDA_SUCCESS;
  });
}

CUresult func_get_attribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return in_context([&](Device& device) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto const function = device.functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto const& entry = *function->function;
    auto const& module = function->program->module();
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = static_cast<int>(entry.max_threads()); break;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(entry.static_shared_bytes); break;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = constant_bytes(module); break;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(entry.local_bytes); break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = static_cast<int>(entry.registers_used()); break;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = capability_of(module.target()); break;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = kCapability; break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->max_dynamic_shared_bytes; break;
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function->shared_carveout; break;
      default:
        if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
        *value = 0;
    }
    return CUDA_SUCCESS;
  });
}

CUresult func_set_attribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return in_context([&](Device& device) {
    auto const function = device.functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
      auto const max = kSharedBytesOnRequest - static_cast<int>(function->function->static_shared_bytes);
      if (value < 0 || value > max) return CUDA_ERROR_INVALID_VALUE;
      function->max_dynamic_shared_bytes = value;
      return CUDA_SUCCESS;
    }
    if (attribute != CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT || value < -1 || value > 100) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    function->shared_carveout = value;
    return CUDA_SUCCESS;
  });
}

}  // namespace cuda_cpu::cpu
