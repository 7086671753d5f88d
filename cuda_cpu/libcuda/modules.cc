// Modules, functions and launches.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "cuda_cpu/libcuda/libcuda.h"
#include "cuda_cpu/runtime/launch.h"
#include "cuda_cpu/runtime/registry.h"

using namespace cuda_cpu::libcuda;

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule* module, void const* image, unsigned count, CUjit_option* options, void** values) {
  if (image == nullptr) return check(CUDA_ERROR_INVALID_VALUE, "cuModuleLoadDataEx()");
  // A program that asks for the log reads it itself; otherwise it is recorded.
  if (count > 0) return check(api().module_load_data_ex(module, image, count, options, values), "cuModuleLoadDataEx()");
  return done(driver().module_load(module, image, "module", cuda_cpu::runtime::bytes_of(image)));
}
CUresult cuModuleLoadData(CUmodule* module, void const* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, void const* image) { return cuModuleLoadData(module, image); }
CUresult cuModuleLoad(CUmodule* module, char const* path) {
  std::ifstream file(path == nullptr ? "" : path, std::ios::binary);
  if (!file)
    return check(CUDA_ERROR_FILE_NOT_FOUND, std::string("cuModuleLoad(") + (path == nullptr ? "" : path) + ")");
  std::string const image(std::istreambuf_iterator<char>(file), {});
  if (!cuda_cpu::runtime::is_complete(image))
    return check(CUDA_ERROR_INVALID_IMAGE, std::string("cuModuleLoad(") + path + ")");
  return done(driver().module_load(module, image.c_str(), path, image.size()));
}
CUresult cuModuleUnload(CUmodule module) { return done(driver().module_unload(module)); }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, char const* name) {
  return done(driver().module_get_function(function, module, name));
}
CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module, char const* name) {
  if (name == nullptr) return check(CUDA_ERROR_INVALID_VALUE, "cuModuleGetGlobal()");
  return check(api().module_get_global(address, bytes, module, name), std::string("cuModuleGetGlobal(") + name + ")");
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return check(api().func_get_attribute(value, attribute, function), "cuFuncGetAttribute()");
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return check(api().func_set_attribute(function, attribute, value), "cuFuncSetAttribute()");
}
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  return done(driver().launch_kernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
                                     stream, parameters, extra));
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** parameters) {
  return done(driver().launch_cooperative_kernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                                 shared_bytes, stream, parameters));
}
CUresult cuLaunchKernelEx(CUlaunchConfig const* configuration, CUfunction function, void** parameters, void** extra) {
  if (configuration == nullptr) return CUDA_ERROR_INVALID_VALUE;
  bool is_cooperative = false;
  // The attributes have the numbers and values of the runtime's.
  auto const* const attributes = reinterpret_cast<cudaLaunchAttribute const*>(configuration->attrs);
  cudaError_t const error = cuda_cpu::runtime::read_attributes(attributes, configuration->numAttrs, is_cooperative);
  if (error != cudaSuccess) return static_cast<CUresult>(error);
  if (is_cooperative) {
    return cuLaunchCooperativeKernel(function, configuration->gridDimX, configuration->gridDimY,
                                     configuration->gridDimZ, configuration->blockDimX, configuration->blockDimY,
                                     configuration->blockDimZ, configuration->sharedMemBytes, configuration->hStream,
                                     parameters);
  }
  return cuLaunchKernel(function, configuration->gridDimX, configuration->gridDimY, configuration->gridDimZ,
                        configuration->blockDimX, configuration->blockDimY, configuration->blockDimZ,
                        configuration->sharedMemBytes, configuration->hStream, parameters, extra);
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return done(driver().launch_host_func(stream, function, data));
}

}  // extern "C"
