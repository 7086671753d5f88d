#include "tracing_core/cuda/driver_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "tracing_core/cuda/errors.h"

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

constexpr int kOldest = 12000;

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// Sets `function` to the symbol `name` of an opened library, or to null if the library lacks the symbol.
template <class Function>
void find(void* library, char const* name, Function& function) noexcept {
  static_assert(sizeof(Function) == sizeof(void*));
  void* const symbol = dlsym(library, name);
  std::memcpy(&function, &symbol, sizeof(symbol));
}

// Returns the file that contains `function`. Asks the loader: if the library was opened by a bare name, only the loader
// knows the file.
std::string file_of(PFN_cuDriverGetVersion_v2020 function, char const* otherwise) {
  Dl_info info;
  void* address = nullptr;
  std::memcpy(&address, &function, sizeof(address));
  return function != nullptr && dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : otherwise;
}

DriverLibrary absent(DriverAbsence absence, int version, std::string explanation, CUresult result = CUDA_SUCCESS) {
  return {{}, absence, result, version, std::move(explanation)};
}

DriverLibrary stub(std::string_view path) {
  return absent(DriverAbsence::stub, 0,
                fmt::format("No CUDA driver: {} is the toolkit's stub, which is for linking only. Remove its folder "
                            "from LD_LIBRARY_PATH and "
                            "install NVIDIA's driver.",
                            path),
                CUDA_ERROR_STUB_LIBRARY);
}

DriverLibrary too_old(std::string_view path, int version, std::string_view missing = {}, int since = 0) {
  auto const of_cuda = version == 0 ? "of an unknown version" : "of CUDA " + version_text(version);
  auto const lack = missing.empty() ? "" : fmt::format(": it lacks {} of CUDA {}", missing, version_text(since));
  return absent(DriverAbsence::too_old, version,
                fmt::format("The CUDA driver {} ({}) is too old{}. Update NVIDIA's driver to CUDA {} or newer.", path,
                            of_cuda, lack, version_text(std::max(since, kOldest))));
}

DriverLibrary no_device(std::string_view path, int version) {
  char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  auto const hint = visible != nullptr ? fmt::format("CUDA_VISIBLE_DEVICES=\"{}\" may hide it.", visible)
                                       : std::string("In a container, pass it through (docker run --gpus all).");
  return absent(DriverAbsence::no_device, version,
                fmt::format("The CUDA driver {} (of CUDA {}) finds no device. {}", path, version_text(version), hint),
                CUDA_ERROR_NO_DEVICE);
}

DriverLibrary failed(std::string_view path, int version, CUresult result) {
  return absent(DriverAbsence::failed, version,
                fmt::format("The CUDA driver {} (of CUDA {}) does not start: cuInit returned {}.", path,
                            version_text(version), error_text(result)),
                result);
}

// Fills the table. Returns the first call that the driver lacks, and the version that introduced it; {} if it has all.
std::pair<char const*, int> resolve(PFN_cuGetProcAddress_v12000 get, int version, DriverApi& api) noexcept {
  auto const find_call = [&](char const* symbol, int since, auto& call) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (since > version || get(symbol, &address, since, CU_GET_PROC_ADDRESS_DEFAULT, &found) != CUDA_SUCCESS)
      return false;
    if (found != CU_GET_PROC_ADDRESS_SUCCESS || address == nullptr) return false;
    std::memcpy(&call, &address, sizeof(address));
    return true;
  };
#define TRACING_CUDA_RESOLVE(member, symbol, since) \
  if (!find_call(#symbol, since, api.member)) return {#symbol, since};
  TRACING_CUDA_DRIVER_CALLS(TRACING_CUDA_RESOLVE)
#undef TRACING_CUDA_RESOLVE
  return {};
}

}  // namespace

DriverLibrary load_driver(char const* name) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    char const* const reason = dlerror();
    return absent(
        DriverAbsence::no_file, 0,
        fmt::format("No CUDA driver: {}. Install NVIDIA's driver; in a container, use NVIDIA's container toolkit.",
                    reason == nullptr ? name : reason));
  }
  PFN_cuDriverGetVersion_v2020 get_version = nullptr;
  find(library, "cuDriverGetVersion", get_version);
  auto const path = file_of(get_version, name);
  int version = 0;
  CUresult const version_result = get_version == nullptr ? CUDA_SUCCESS : get_version(&version);
  if (version_result == CUDA_ERROR_STUB_LIBRARY) return stub(path);
  if (version_result != CUDA_SUCCESS) version = 0;
  PFN_cuGetProcAddress_v12000 get_address = nullptr;
  find(library, "cuGetProcAddress_v2", get_address);
  if (version < kOldest) return too_old(path, version);
  if (get_address == nullptr) return too_old(path, version, "cuGetProcAddress_v2", kOldest);

  DriverLibrary driver{{}, DriverAbsence::none, CUDA_SUCCESS, version, {}};
  auto const [missing, since] = resolve(get_address, version, driver.api);
  if (missing != nullptr) return too_old(path, version, missing, since);
  driver.result = driver.api.init(0);
  int devices = 0;
  if (driver.result == CUDA_SUCCESS) driver.result = driver.api.device_get_count(&devices);
  if (driver.result == CUDA_ERROR_STUB_LIBRARY) return stub(path);
  if (driver.result == CUDA_ERROR_NO_DEVICE || (driver.result == CUDA_SUCCESS && devices == 0))
    return no_device(path, version);
  if (driver.result != CUDA_SUCCESS) return failed(path, version, driver.result);
  return driver;
}

}}}  // namespace tracing::v1::cuda
