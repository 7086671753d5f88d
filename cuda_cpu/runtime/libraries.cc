// Libraries: PTX and fat binaries that a program loads itself, and handles of kernels.
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/runtime/launch.h"
#include "cuda_cpu/runtime/runtime.h"

using namespace cuda_cpu::runtime;

namespace {

using tracing::support::Mutex;
using tracing::support::MutexLock;

// A kernel that was asked for is registered like a kernel of the program, under the address of its entry in `kernels`.
struct Library {
  explicit Library(std::string its_image) : image(std::move(its_image)), binary(&registry().add(image.c_str())) {}
  explicit Library(void const* its_image) : binary(&registry().add(its_image)) {}
  Library(Library const&) = delete;
  Library& operator=(Library const&) = delete;
  ~Library() {
    binary->unload();
    registry().remove(*binary);
  }

  std::string const image;  // of a file
  Binary* const binary;
  Mutex mutex;
  std::map<std::string, cudaKernel_t, std::less<>> kernels TRACING_GUARDED_BY(mutex);
};

struct Libraries {
  Mutex mutex;
  std::map<cudaLibrary_t, std::unique_ptr<Library>> loaded TRACING_GUARDED_BY(mutex);
};
Libraries& libraries() {
  static auto& its = *new Libraries;
  return its;
}

template <class Image>
cudaError_t load(cudaLibrary_t* out, Image image) {
  auto library = std::make_unique<Library>(std::move(image));
  CUmodule module = nullptr;
  if (CUresult const result = library->binary->load(&module, "the library"); result != CUDA_SUCCESS)
    return to_error(result);
  *out = reinterpret_cast<cudaLibrary_t>(library.get());
  MutexLock const lock(libraries().mutex);
  libraries().loaded.emplace(*out, std::move(library));
  return cudaSuccess;
}

template <class Body>
cudaError_t on_library(cudaLibrary_t handle, Body const& body) noexcept {
  return call([&]() -> cudaError_t {
    MutexLock const lock(libraries().mutex);
    auto const found = libraries().loaded.find(handle);
    return found == libraries().loaded.end() ? cudaErrorInvalidResourceHandle : to_error(body(*found->second));
  });
}

cudaError_t find_kernel(Library& library, std::string const& name, cudaKernel_t* out) {
  MutexLock const lock(library.mutex);
  auto& known = library.kernels[name];
  if (known == nullptr) {
    // The address is as unique as a function's.
    Kernel& kernel = registry().add_kernel(*library.binary, &known, name.c_str());
    CUfunction function = nullptr;
    if (CUresult const result = kernel.find(&function); result != CUDA_SUCCESS) {
      registry().remove_kernel(&known);
      library.kernels.erase(name);
      return to_error(result);
    }
    known = reinterpret_cast<cudaKernel_t>(&kernel);
  }
  *out = known;
  return cudaSuccess;
}

}  // namespace

extern "C" {

// Options of the compiler have no effect here.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, void const* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return call([&] { return library == nullptr || code == nullptr ? cudaErrorInvalidValue : load(library, code); });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, char const* path, cudaJitOption*, void**, unsigned,
                                    cudaLibraryOption*, void**, unsigned) {
  return call([&]() -> cudaError_t {
    if (library == nullptr || path == nullptr) return cudaErrorInvalidValue;
    std::ifstream file(path, std::ios::binary);
    if (!file) return refuse(cudaErrorFileNotFound, fmt::format("could not read {}", path));
    std::string image(std::istreambuf_iterator<char>(file), {});
    if (!is_complete(image)) return refuse(cudaErrorInvalidKernelImage, fmt::format("{} is cut off", path));
    return load(library, std::move(image));
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call([&]() -> cudaError_t {
    if (CUresult const result = driver().ctx_synchronize(); result != CUDA_SUCCESS) return to_error(result);
    MutexLock const lock(libraries().mutex);
    return libraries().loaded.erase(library) == 0 ? cudaErrorInvalidResourceHandle : cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, char const* name) {
  return on_library(library, [&](Library& its) {
    return kernel == nullptr || name == nullptr ? cudaErrorInvalidValue : find_kernel(its, name, kernel);
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library, char const* name) {
  return on_library(library, [&](Library& its) -> CUresult {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUmodule module = nullptr;
    if (CUresult const result = its.binary->load(&module, fmt::format("the variable {}", name)); result != CUDA_SUCCESS)
      return result;
    return driver().check(
        driver().api().module_get_global(reinterpret_cast<CUdeviceptr*>(address), bytes, module, name),
        fmt::format("cuModuleGetGlobal({})", name));
  });
}
cudaError_t cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library, char const* name) {
  return cudaLibraryGetGlobal(address, bytes, library, name);
}

// Programs pass a function of the host or its kernel's handle; both name the kernel.
cudaError_t cudaGetKernel(cudaKernel_t* kernel, void const* host_function) {
  return kernel == nullptr ? finish(cudaErrorInvalidValue) : __cudaGetKernel(kernel, host_function);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, void const* host_function) {
  return call([&] {
    if (function == nullptr) return cudaErrorInvalidValue;
    return find_function(host_function, reinterpret_cast<CUfunction*>(function));
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
  return device == 0 ? cudaFuncSetAttribute(kernel, attribute, value) : finish(cudaErrorInvalidDevice);
}

}  // extern "C"
