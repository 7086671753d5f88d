#define TRACE_TARGET "cuda_tests::compute::context"
#include "cuda_tests/runtime/context.h"

#include <memory>

#include "cuda_tests/kernels/embedded.h"
#include "cuda_tests/runtime/error.h"
#include "cuda_tests/runtime/integrator.h"
#include "tracing_core/tracing.h"

namespace cuda_tests {

Context::~Context() {
  for (auto const& [key, kernel] : loaded_) backend_.driver().module_unload(kernel.module);
}

CUfunction Context::function(Kernel const& kernel, ExecutionMode mode) {
  std::string key = key_of(kernel, mode);
  auto const found = loaded_.find(key);
  if (found != loaded_.end()) return found->second.function;
  LoadedKernel const loaded = load(kernel, mode);
  loaded_.emplace(std::move(key), loaded);
  return loaded.function;
}

LoadedKernel Context::load(Kernel const& kernel, ExecutionMode mode) {
  if (!backend_.compiles()) {
    std::string_view const image = embedded_module(kernel.file);
    if (image.empty())
      throw Error(CUDA_ERROR_NOT_FOUND, "there is no NVRTC, and the program does not embed " + kernel.file);
    TRACE_TRACE("Using embedded kernel", tracing::kv("kernel.id", tracing::pretty(kernel.id)));
    return load_image(kernel, image, std::string(embedded_entry(kernel.entry)));
  }
  auto const compiled = backend_.compiler().get(
      integrate(kernel, {kernel.id.cube_dim, mode, backend_.arch(), backend_.include_folders()}));
  return load_image(kernel, compiled->cubin.empty() ? compiled->ptx : compiled->cubin,
                    compiled->lowered_names.empty() ? kernel.entry : compiled->lowered_names.front());
}

LoadedKernel Context::load_image(Kernel const& kernel, std::string_view image, std::string const& entry) {
  tracing::cuda::Driver& driver = backend_.driver();
  LoadedKernel loaded;
  check(driver.module_load(&loaded.module, image.data(), kernel.file, image.size()), "cannot load a module");
  CUresult const result = driver.module_get_function(&loaded.function, loaded.module, entry.c_str());
  if (result != CUDA_SUCCESS) driver.module_unload(loaded.module);
  check(result, "cannot find a kernel in its module");
  return loaded;
}

}  // namespace cuda_tests
