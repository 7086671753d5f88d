#include "tracing_core/cuda/device_times/cupti_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

std::vector<std::string> cupti_paths() {
  std::vector<std::string> paths;
  for (std::string const file : {"libcupti.so.13", "libcupti.so.12"}) {
    paths.push_back(file);
    char const* const toolkit = secure_getenv("CUDA_PATH");
    for (std::string const root : {toolkit == nullptr ? "" : toolkit, "/usr/local/cuda"}) {
      if (root.empty()) continue;
      for (char const* const folder : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"})
        paths.push_back(root + folder + file);
    }
  }
  return paths;
}

// Fills the table. Returns the first call that the library lacks; null if it has all calls.
char const* fill_cupti(CuptiApi& api, void* library) {
#define TRACING_CUDA_FIND(member, symbol)                                       \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, #symbol)); \
  if (api.member == nullptr) return #symbol;
  TRACING_CUDA_CUPTI_CALLS(TRACING_CUDA_FIND)
#undef TRACING_CUDA_FIND
  return nullptr;
}

}  // namespace

CuptiLibrary load_cupti(std::string const& path) {
  std::string reason;
  for (std::string const& file : path.empty() ? cupti_paths() : std::vector<std::string>{path}) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
      if (reason.empty()) reason = dlerror();  // of the name that the user would install
      continue;
    }
    CuptiLibrary found;
    char const* const missing = fill_cupti(found.api, library);
    if (missing == nullptr) return found;
    return {{}, "No CUPTI: " + file + " lacks " + missing + ", which CUDA 12 and newer have."};
  }
  return {
      {},
      "No CUPTI: " + reason +
          ". It is part of the CUDA Toolkit, 12 or newer: set CUDA_PATH to the toolkit's folder, or LD_LIBRARY_PATH "
          "to the folder of libcupti.so."};
}

}}}  // namespace tracing::v1::cuda
