// Modules, functions and launches.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "cuda_cpu/libcuda/libcuda.h"
#include "cuda_cpu/process/launch_attributes.h"
#include "cuda_cpu/process/occupancy.h"
#include "cuda_cpu/process/registry.h"

using namespace cuda_cpu::libcuda;

namespace {

// Returns the function to launch: a launch also takes a CUkernel in place of a function.
CUfunction function_of(CUfunction function) {
  CUfunction found = nullptr;
  auto* const kernel = cuda_cpu::process::registry().find_kernel(function);
  return kernel != nullptr && kernel->find(&found) == CUDA_SUCCESS ? found : function;
}

// Checks the function for calls that have no method in Driver. Returns an error if it does not exist.
CUresult check_function(CUfunction function, char const* call) {
  int threads = 0;
  return check(api().func_get_attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), call);
}

}  // namespace

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule* module, void const* image, unsigned count, CUjit_option* options, void** values) {
  cuda_cpu::cpu::CallerScope const caller;
  if (image == nullptr) return check(CUDA_ERROR_INVALID_VALUE, "cuModuleLoadDataEx()");
  // A program that asks for the driver's log reads it itself. Otherwise the log is recorded.
  return done(
      driver().module_load(module, image, "module", cuda_cpu::process::bytes_of(image), count, options, values));
}
CUresult cuModuleLoadData(CUmodule* module, void const* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
CUresult cuModuleLoadFatBinary(CUmodule* module, void const* image) { return cuModuleLoadData(module, image); }
CUresult cuModuleLoad(CUmodule* module, char const* path) {
  cuda_cpu::cpu::CallerScope const caller;
  std::ifstream file(path == nullptr ? "" : path, std::ios::binary);
  if (!file)
    return check(CUDA_ERROR_FILE_NOT_FOUND, std::string("cuModuleLoad(") + (path == nullptr ? "" : path) + ")");
  std::string const image(std::istreambuf_iterator<char>(file), {});
  if (!cuda_cpu::process::is_complete(image))
    return check(CUDA_ERROR_INVALID_IMAGE, std::string("cuModuleLoad(") + path + ")");
  return done(driver().module_load(module, image.c_str(), path, image.size()));
}
CUresult cuModuleUnload(CUmodule module) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().module_unload(module));
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, char const* name) {
  cuda_cpu::cpu::CallerScope const caller;
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
  // The attributes have the numbers of the runtime's.
  cudaError_t const error = cuda_cpu::process::check_attribute(static_cast<cudaFuncAttribute>(attribute), value);
  if (error != cudaSuccess) return static_cast<CUresult>(error);
  return check(api().func_set_attribute(function, attribute, value), "cuFuncSetAttribute()");
}
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
CUresult cuFuncSetSharedMemConfig(CUfunction, CUsharedconfig) { return CUDA_SUCCESS; }
CUresult cuFuncGetName(char const** name, CUfunction function) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult const result = check_function(function, "cuFuncGetName()"); result != CUDA_SUCCESS) return result;
  *name = cuda_cpu::cpu::Device::get()->functions.find(function)->function->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int block_threads,
                                                              std::size_t dynamic_shared_bytes, unsigned) {
  if (blocks == nullptr || block_threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = check_function(function, "cuOccupancyMaxActiveBlocksPerMultiprocessor()");
  if (result == CUDA_SUCCESS) *blocks = cuda_cpu::process::active_blocks(function, block_threads, dynamic_shared_bytes);
  return result;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_threads,
                                                     std::size_t dynamic_shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, dynamic_shared_bytes, 0);
}
// Does what the runtime's template in the toolkit's header does: tries the largest blocks first.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize bytes_of, std::size_t dynamic_shared_bytes,
                                                   int limit, unsigned) {
  int max_threads = 0;
  int multiprocessors = 0;
  if (grid == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = cuFuncGetAttribute(&max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
  if (result != CUDA_SUCCESS) return result;
  api().device_get_attribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  if (limit > 0) max_threads = std::min(max_threads, limit);
  int most = 0;
  for (int warps = (max_threads + 31) / 32; warps > 0; --warps) {
    int const threads = std::min(32 * warps, max_threads);
    std::size_t const bytes = bytes_of == nullptr ? dynamic_shared_bytes : bytes_of(threads);
    int const blocks = cuda_cpu::process::active_blocks(function, threads, bytes);
    if (blocks * threads <= most) continue;
    most = blocks * threads;
    *block = threads;
    *grid = blocks * multiprocessors;
  }
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize bytes_of,
                                          std::size_t dynamic_shared_bytes, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, bytes_of, dynamic_shared_bytes, limit, 0);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function, int blocks, int) {
  if (bytes == nullptr || blocks <= 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = check_function(function, "cuOccupancyAvailableDynamicSMemPerBlock()");
  if (result == CUDA_SUCCESS) *bytes = cuda_cpu::process::available_shared_bytes(function, blocks);
  return result;
}

// Libraries and their kernels have the runtime's handles, so their calls forward to it. Options of the compiler do
// nothing.
CUresult cuLibraryLoadData(CUlibrary* library, void const* code, CUjit_option*, void**, unsigned, CUlibraryOption*,
                           void**, unsigned) {
  return forward(cudaLibraryLoadData, library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, char const* path, CUjit_option*, void**, unsigned, CUlibraryOption*,
                               void**, unsigned) {
  return forward(cudaLibraryLoadFromFile, library, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
}
CUresult cuLibraryUnload(CUlibrary library) { return forward(cudaLibraryUnload, library); }
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, char const* name) {
  return forward(cudaLibraryGetKernel, kernel, library, name);
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, char const* name) {
  return forward(cudaLibraryGetGlobal, reinterpret_cast<void**>(address), bytes, library, name);
}
CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library, char const* name) {
  return cuLibraryGetGlobal(address, bytes, library, name);
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return forward(cudaGetFuncBySymbol, function, kernel);
}
CUresult cuKernelGetName(char const** name, CUkernel kernel) { return forward(cudaFuncGetName, name, kernel); }
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  CUfunction function = nullptr;
  CUresult const result = cuKernelGetFunction(&function, kernel);
  return result == CUDA_SUCCESS ? cuFuncGetAttribute(value, attribute, function) : result;
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return forward(cudaKernelSetAttributeForDevice, kernel, static_cast<cudaFuncAttribute>(attribute), value, device);
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache preference, CUdevice) {
  return forward(cudaFuncSetCacheConfig, kernel, static_cast<cudaFuncCache>(preference));
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().launch_kernel(function_of(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                                     shared_bytes, stream, parameters, extra));
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** parameters) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().launch_cooperative_kernel(function_of(function), {grid_x, grid_y, grid_z},
                                                 {block_x, block_y, block_z}, shared_bytes, stream, parameters));
}
CUresult cuLaunchKernelEx(CUlaunchConfig const* configuration, CUfunction function, void** parameters, void** extra) {
  if (configuration == nullptr) return CUDA_ERROR_INVALID_VALUE;
  bool is_cooperative = false;
  // The attributes have the numbers and values of the runtime's.
  auto const* const attributes = reinterpret_cast<cudaLaunchAttribute const*>(configuration->attrs);
  cudaError_t const error = cuda_cpu::process::read_attributes(attributes, configuration->numAttrs, is_cooperative);
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
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().launch_host_func(stream, function, data));
}

}  // extern "C"
