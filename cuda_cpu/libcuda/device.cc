// Initialization, the device and its only context.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

#include "cuda_cpu/libcuda/libcuda.h"
#include "cuda_cpu/libcuda/symbols.h"

using namespace cuda_cpu::libcuda;

namespace {

// A Driver that finds this library in place of a GPU's driver reports what only this library knows.
[[maybe_unused]] bool const is_announced = [] {
  tracing::cuda::internal::set_options_of_driver(&cuInit, cuda_cpu::cpu_driver_options());
  return true;
}();

std::vector<CUcontext>& pushed() noexcept {
  static thread_local std::vector<CUcontext> contexts;
  return contexts;
}

CUresult create(CUcontext* context, CUdevice device) {
  CUcontext current = nullptr;
  CUresult result = api().device_primary_ctx_retain(context, device);
  if (result == CUDA_SUCCESS) result = api().ctx_get_current(&current);
  if (result == CUDA_SUCCESS) pushed().push_back(current);
  return check(result == CUDA_SUCCESS ? api().ctx_set_current(*context) : result, "cuCtxCreate()");
}

// Says once on stderr why NVIDIA's runtime library fails, which itself only returns an error to its program. `code` is
// an address in the program or library that contains it.
void report_foreign_runtime(void const* code) {
  static std::atomic<bool> is_reported{false};
  if (is_reported.exchange(true)) return;
  Dl_info info{};
  bool const is_known = dladdr(code, &info) != 0 && info.dli_fname != nullptr;
  std::fputs(foreign_runtime_text(is_known ? info.dli_fname : "the program").c_str(), stderr);
}

}  // namespace

namespace cuda_cpu::libcuda {

std::string foreign_runtime_text(std::string_view file) {
  std::string_view const name = file.substr(file.rfind('/') + 1);
  for (std::string_view const library : {"libcublas", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse",
                                         "libnccl", "libnpp", "libnvjpeg"}) {
    if (!name.starts_with(library)) continue;
    std::string_view const instead =
        name.starts_with("libcublas")
            ? "link testlog::cublas_on_cpu in its place, as testlog_cuda_on_cpu() does, or let LD_LIBRARY_PATH find "
              "testlog's libcublas.so.13"
            : "where there is no GPU, skip what calls it, or call a library for the CPU in its place";
    return "testlog: " + std::string(name) + " of NVIDIA has only machine code for GPUs, so its calls fail here; " +
           std::string(instead) + "\n";
  }
  return "testlog: " + std::string(file) +
         " has NVIDIA's runtime library inside, which needs a GPU; link it with -cudart none or shared\n";
}

}  // namespace cuda_cpu::libcuda

extern "C" {

CUresult cuInit(unsigned flags) {
  cuda_cpu::process::start_tracing();
  return check(api().init(flags), "cuInit()");
}
CUresult cuDriverGetVersion(int* version) { return api().driver_get_version(version); }
CUresult cuGetErrorName(CUresult code, char const** text) { return api().get_error_name(code, text); }
CUresult cuGetErrorString(CUresult code, char const** text) {
  CUresult const result = api().get_error_string(code, text);
  if (result == CUDA_SUCCESS) *text = cuda_cpu::graph::error_string(cuda_cpu::graph::to_error(code));
  return result;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return check(api().device_get(device, ordinal), "cuDeviceGet()");
}
CUresult cuDeviceGetCount(int* count) { return check(api().device_get_count(count), "cuDeviceGetCount()"); }
CUresult cuDeviceGetName(char* name, int capacity, CUdevice device) {
  return check(api().device_get_name(name, capacity, device), "cuDeviceGetName()");
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return check(api().device_get_attribute(value, attribute, device), "cuDeviceGetAttribute()");
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return check(api().device_total_mem(bytes, device), "cuDeviceTotalMem()");
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  CUresult const result = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  return result == CUDA_SUCCESS ? cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
                                : result;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) {
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memset(uuid, 0, sizeof *uuid);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* id, int capacity, CUdevice device) {
  return forward(cudaDeviceGetPCIBusId, id, capacity, device);
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, char const* id) {
  return forward(cudaDeviceGetByPCIBusId, device, id);
}
CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  if (can_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *can_access = 0;
  return device == 0 && peer == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return check(api().device_primary_ctx_retain(context, device), "cuDevicePrimaryCtxRetain()");
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return check(api().device_primary_ctx_release(device), "cuDevicePrimaryCtxRelease()");
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* is_active) {
  if (flags == nullptr || is_active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto const* const device = cuda_cpu::cpu::Device::get();
  *flags = 0;
  cudaGetDeviceFlags(flags);
  *is_active = device != nullptr && device->retained > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned flags) { return forward(cudaSetDeviceFlags, flags); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return device == 0 ? forward(cudaDeviceReset) : check(CUDA_ERROR_INVALID_DEVICE, "cuDevicePrimaryCtxReset()");
}

// All contexts of a program are the primary context, which is destroyed with the last of them.
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned, CUdevice device) {
  return create(context, device);
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned, CUdevice device) {
  return create(context, device);
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) { return create(context, device); }
CUresult cuCtxDestroy(CUcontext context) {
  CUcontext current = nullptr;
  if (context != cuda_cpu::cpu::primary_context()) return check(CUDA_ERROR_INVALID_CONTEXT, "cuCtxDestroy()");
  if (api().ctx_get_current(&current) == CUDA_SUCCESS && current == context) api().ctx_set_current(nullptr);
  return check(api().device_primary_ctx_release(0), "cuCtxDestroy()");
}
CUresult cuCtxGetCurrent(CUcontext* context) { return check(api().ctx_get_current(context), "cuCtxGetCurrent()"); }
CUresult cuCtxSetCurrent(CUcontext context) { return check(api().ctx_set_current(context), "cuCtxSetCurrent()"); }
CUresult cuCtxPushCurrent(CUcontext context) {
  CUcontext current = nullptr;
  CUresult const result = api().ctx_get_current(&current);
  if (result == CUDA_SUCCESS) pushed().push_back(current);
  return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : check(result, "cuCtxPushCurrent()");
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  CUcontext current = nullptr;
  if (CUresult const result = api().ctx_get_current(&current); result != CUDA_SUCCESS)
    return check(result, "cuCtxPopCurrent()");
  if (current == nullptr) return check(CUDA_ERROR_INVALID_CONTEXT, "cuCtxPopCurrent()");
  if (context != nullptr) *context = current;
  CUcontext outer = nullptr;
  if (!pushed().empty()) {
    outer = pushed().back();
    pushed().pop_back();
  }
  return cuCtxSetCurrent(outer);
}
CUresult cuCtxGetDevice(CUdevice* device) { return check(api().ctx_get_device(device), "cuCtxGetDevice()"); }
CUresult cuCtxSynchronize() {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().ctx_synchronize());
}
CUresult cuCtxGetFlags(unsigned* flags) { return forward(cudaGetDeviceFlags, flags); }
CUresult cuCtxSetFlags(unsigned flags) { return forward(cudaSetDeviceFlags, flags); }
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return forward(cudaDeviceSetLimit, static_cast<cudaLimit>(limit), value);
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return forward(cudaDeviceGetLimit, value, static_cast<cudaLimit>(limit));
}

// Preferences that change nothing here.
CUresult cuCtxSetCacheConfig(CUfunc_cache) { return CUDA_SUCCESS; }
CUresult cuCtxGetCacheConfig(CUfunc_cache* preference) {
  if (preference == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *preference = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig) { return CUDA_SUCCESS; }
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* configuration) {
  if (configuration == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *configuration = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() { return CUDA_SUCCESS; }
CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope) {
  return CUDA_SUCCESS;
}

// Peers need a second context, which does not exist.
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return check(CUDA_ERROR_INVALID_CONTEXT, "cuCtxEnablePeerAccess()");
}
CUresult cuCtxDisablePeerAccess(CUcontext) { return check(CUDA_ERROR_INVALID_CONTEXT, "cuCtxDisablePeerAccess()"); }
CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = cuda_cpu::cpu::kDriverVersion;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = 0;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }

// NVIDIA's runtime library asks for private interfaces, and gives up without them.
CUresult cuGetExportTable(void const** table, CUuuid const*) {
  if (table != nullptr) *table = nullptr;
  report_foreign_runtime(__builtin_return_address(0));
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(char const* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (symbol == nullptr || function == nullptr || flags > kPerThread) return CUDA_ERROR_INVALID_VALUE;
  auto const result = find_symbol(symbol, version, flags == kPerThread, function);
  if (status != nullptr) *status = result;
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // extern "C"
