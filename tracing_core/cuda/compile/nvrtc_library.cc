#include "tracing_core/cuda/nvrtc_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

constexpr int kNeverClosed = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
constexpr char const* kFileNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::vector<std::string> default_paths() {
  std::vector<std::string> paths;
  if (char const* const toolkit = secure_getenv("CUDA_PATH"); toolkit != nullptr && *toolkit != '\0')
    for (char const* const name : kFileNames) paths.push_back(std::string(toolkit) + "/lib64/" + name);
  for (char const* const name : kFileNames) paths.emplace_back(name);
  return paths;
}

std::string to_string(NvrtcVersion version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

template <class Function>
bool find_call(void* library, char const* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

// Fills the table. Returns the first call that the library lacks; null if it has all calls.
char const* fill(NvrtcApi& api, void* library) {
#define TRACING_CUDA_FIND(member, symbol) \
  if (!find_call(library, #symbol, api.member)) return #symbol;
  TRACING_CUDA_NVRTC_CALLS(TRACING_CUDA_FIND)
#undef TRACING_CUDA_FIND
  return nullptr;
}

// Returns the file that the loader opened.
std::string path_of(void* library, std::string_view requested) {
  Dl_info info{};
  void* const symbol = dlsym(library, "nvrtcVersion");
  if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
  return std::string(requested);
}

// Opens libnvrtc-builtins. NVRTC loads it by name when it first compiles, but the loader may not search its folder (pip
// installs both into site-packages). The loader finds a library that is already open by its name. If the library is
// missing, compile() reports that.
void open_builtins(NvrtcLibrary const& nvrtc) {
  std::size_t const slash = nvrtc.path.rfind('/');
  if (slash == std::string::npos) return;
  std::string const file = nvrtc.path.substr(0, slash) + "/libnvrtc-builtins.so." + to_string(nvrtc.version);
  dlopen(file.c_str(), kNeverClosed);
}

NvrtcLibrary absent(NvrtcLibrary result, NvrtcAbsence absence, std::string explanation) {
  result.api = {};
  result.absence = absence;
  result.explanation = std::move(explanation);
  return result;
}

NvrtcLibrary take(void* library, std::string_view requested) {
  NvrtcLibrary result;
  std::string const path = path_of(library, requested);
  result.path = path;
  if (char const* const missing = fill(result.api, library)) {
    return absent(std::move(result), NvrtcAbsence::not_nvrtc,
                  "No NVRTC: " + path + " lacks " + missing + ", which CUDA 12 and newer have.");
  }
  result.api.version(&result.version.major, &result.version.minor);
  if (result.version < kOldestNvrtc) {
    return absent(std::move(result), NvrtcAbsence::too_old,
                  "No NVRTC: " + path + " is of CUDA " + to_string(result.version) + "; expected 12.0 or newer.");
  }
  result.absence = NvrtcAbsence::none;
  open_builtins(result);
  return result;
}

}  // namespace

NvrtcLibrary load_nvrtc(std::string const& path) {
  std::vector<std::string> const candidates = path.empty() ? default_paths() : std::vector<std::string>{path};
  NvrtcLibrary unfit;
  std::string reasons;
  for (std::string const& candidate : candidates) {
    if (void* const library = dlopen(candidate.c_str(), kNeverClosed)) {
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
                "No NVRTC: " + reasons + ". Install the CUDA Toolkit, 12 or newer, and set CUDA_PATH to its folder.");
}

}}}  // namespace tracing::v1::cuda
