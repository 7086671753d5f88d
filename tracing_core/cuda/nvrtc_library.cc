#include "tracing_core/cuda/nvrtc_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace tracing::inline v1::cuda {
namespace {

constexpr int kForEver = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
constexpr char const* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::vector<std::string> places() {
  std::vector<std::string> places;
  if (char const* const toolkit = std::getenv("CUDA_PATH"); toolkit != nullptr && *toolkit != '\0')
    for (char const* const name : kNames) places.push_back(std::string(toolkit) + "/lib64/" + name);
  for (char const* const name : kNames) places.emplace_back(name);
  return places;
}

std::string to_string(NvrtcVersion version) { return std::to_string(version.major) + "." + std::to_string(version.minor); }

template <class Function>
bool find(void* library, char const* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

// The first call that the library lacks; null where it has all.
char const* fill(NvrtcApi& api, void* library) {
#define TRACING_CUDA_FIND(member, symbol) \
  if (!find(library, #symbol, api.member)) return #symbol;
  TRACING_CUDA_NVRTC_CALLS(TRACING_CUDA_FIND)
#undef TRACING_CUDA_FIND
  return nullptr;
}

// The file that the loader took for the library.
std::string path_of(void* library, std::string_view asked) {
  Dl_info info{};
  void* const symbol = dlsym(library, "nvrtcVersion");
  if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
  return std::string(asked);
}

// NVRTC opens its second library by name when it compiles first, and that library's folder may be one in which the loader
// does not look. Once it is open, its name is enough. Where it is not there, compiling says so.
void open_builtins(NvrtcLibrary const& nvrtc) {
  std::size_t const slash = nvrtc.path.rfind('/');
  if (slash == std::string::npos) return;
  std::string const file = nvrtc.path.substr(0, slash) + "/libnvrtc-builtins.so." + to_string(nvrtc.version);
  dlopen(file.c_str(), kForEver);
}

NvrtcLibrary absent(NvrtcLibrary result, NvrtcAbsence absence, std::string explanation) {
  result.api = {};
  result.absence = absence;
  result.explanation = std::move(explanation);
  return result;
}

NvrtcLibrary take(void* library, std::string_view asked) {
  NvrtcLibrary result;
  std::string const path = path_of(library, asked);
  result.path = path;
  if (char const* const missing = fill(result.api, library)) {
    return absent(std::move(result), NvrtcAbsence::not_nvrtc,
                  "No NVRTC: " + path + " has no " + missing + ", as that of CUDA 12 and newer has.");
  }
  result.api.version(&result.version.major, &result.version.minor);
  if (result.version < kOldestNvrtc) {
    return absent(std::move(result), NvrtcAbsence::too_old,
                  "No NVRTC: " + path + " is that of CUDA " + to_string(result.version) + "; 12.0 or newer is needed.");
  }
  result.absence = NvrtcAbsence::none;
  open_builtins(result);
  return result;
}

}  // namespace

NvrtcLibrary load_nvrtc(std::string const& path) {
  std::vector<std::string> const candidates = path.empty() ? places() : std::vector<std::string>{path};
  NvrtcLibrary unfit;
  std::string reasons;
  for (std::string const& candidate : candidates) {
    if (void* const library = dlopen(candidate.c_str(), kForEver)) {
      NvrtcLibrary found = take(library, candidate);
      if (found) return found;
      if (unfit.explanation.empty()) unfit = std::move(found);
    } else {
      char const* const reason = dlerror();
      reasons += reasons.empty() ? "" : "; ";
      reasons += reason == nullptr ? candidate : reason;
    }
  }
  if (!unfit.explanation.empty()) return unfit;
  return absent({}, NvrtcAbsence::no_file,
                "No NVRTC: " + reasons + ". It comes with the CUDA Toolkit, 12 or newer; CUDA_PATH says where that is.");
}

}  // namespace tracing::inline v1::cuda
