#define TRACE_TARGET "cuda_tests::runtime"
#include "cuda_tests/runtime/backend.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_tests/kernels/embedded.h"
#include "tracing_core/cuda/driver_library.h"
#include "tracing_core/cuda/errors.h"

namespace cuda_tests {
namespace {

tracing::cuda::NvrtcLibrary const& nvrtc() {
  static auto const& library = *new tracing::cuda::NvrtcLibrary(tracing::cuda::load_nvrtc());
  return library;
}

// Returns the folder of the toolkit's headers: from the environment if it names one, otherwise from the build.
std::vector<std::string> toolkit_headers() {
  for (char const* const variable : {"CUDA_PATH", "CUDA_HOME"}) {
    char const* const root = std::getenv(variable);
    if (root != nullptr && *root != '\0') return {std::string(root) + "/include"};
  }
  return {CUDA_TESTS_TOOLKIT_INCLUDE};
}

// Returns the architecture of the device, such as `sm_90`.
std::string architecture_of(tracing::cuda::DriverApi const& api) {
  int major = 0;
  int minor = 0;
  api.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
  api.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
  return "sm_" + std::to_string(major * 10 + minor);
}

// Returns true if NVRTC knows `arch`, such as `sm_90` or `compute_75`.
bool knows(tracing::cuda::NvrtcApi const& api, std::string_view arch) {
  int count = 0;
  if (api.get_num_supported_archs(&count) != NVRTC_SUCCESS || count <= 0) return false;
  std::vector<int> known(static_cast<std::size_t>(count));
  if (api.get_supported_archs(known.data()) != NVRTC_SUCCESS) return false;
  return std::ranges::any_of(known, [&](int number) { return arch.ends_with("_" + std::to_string(number)); });
}

}  // namespace

Backend::Backend(std::string_view name, tracing::cuda::DriverApi const& api, tracing::cuda::DriverOptions options,
                 tracing::cuda::NvrtcApi const& nvrtc_api, bool has_machine_code)
    : name_(name), driver_(api, std::move(options)), compiler_(nvrtc_api), include_folders_(toolkit_headers()) {
  CUresult const code = driver_.open_device(0);
  if (code != CUDA_SUCCESS)
    throw std::runtime_error("cannot open the device: " + tracing::cuda::error_text(code, &api));
  arch_ = name == "cpu" ? "compute_75" : architecture_of(api);
  // Without embedded kernels use NVRTC in any case: most kernels include nothing, and its errors explain the cause.
  compiles_ =
      nvrtc_api.compile_program != nullptr && (!has_machine_code || can_compile(nvrtc_api, arch_, include_folders_));
}

bool can_compile(tracing::cuda::NvrtcApi const& nvrtc, std::string_view arch,
                 std::vector<std::string> const& include_folders) {
  auto const has_headers = [](std::string const& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder + "/cuda_fp16.h", ignored);
  };
  return nvrtc.compile_program != nullptr && knows(nvrtc, arch) && std::ranges::any_of(include_folders, has_headers);
}

Backend* Backend::cpu(std::string& why) {
  why = nvrtc().explanation;
  if (!nvrtc()) return nullptr;
  static auto* const backend =
      new Backend("cpu", cuda_cpu::cpu_driver_api(), cuda_cpu::cpu_driver_options(), nvrtc().api, false);
  return backend;
}

Backend* Backend::cuda(std::string& why) {
  static auto const& driver = *new tracing::cuda::DriverLibrary(tracing::cuda::load_driver());
  static bool const has_machine_code = !embedded_module("saxpy.cu").empty();
  why = driver ? nvrtc().explanation : driver.explanation;
  if (!driver || (!nvrtc() && !has_machine_code)) return nullptr;
  static auto* const backend = new Backend("cuda", driver.api, {}, nvrtc().api, has_machine_code);
  return backend;
}

}  // namespace cuda_tests
