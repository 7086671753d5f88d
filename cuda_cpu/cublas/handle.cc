// Handles, their settings, and what the library says about itself.
#define TRACE_TARGET "tracing::cuda::cublas"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "cuda_cpu/cublas/call.h"
#include "tracing_core/emit/for_callers.h"

using namespace cuda_cpu::cublas;
using cuda_cpu::process::Where;

namespace {

constexpr int kVersion = CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH;

struct Status {
  cublasStatus_t status;
  char const* name;
  char const* text;
};
constexpr Status kStatuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was used as a parameter"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "an absent feature of the device is required"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to memory of the device failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the work failed on the device"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the parameters are not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "a licence was not found"},
};

Status find_status(cublasStatus_t status) noexcept {
  for (Status const& its : kStatuses)
    if (its.status == status) return its;
  return {status, "unknown status", "unknown status"};
}

template <class T>
[[gnu::always_inline]] inline cublasStatus_t set(cublasHandle_t handle, T Context::*setting, T value,
                                                 bool is_valid = true, Where const& where = Where::current()) {
  return call(
      handle,
      [&](Call const& its) {
        if (!is_valid) fail_invalid("the value is none of those that the setting has");
        its.context.*setting = value;
      },
      where);
}
template <class T>
[[gnu::always_inline]] inline cublasStatus_t get(cublasHandle_t handle, T Context::*setting, T* value,
                                                 Where const& where = Where::current()) {
  return call(
      handle,
      [&](Call const& its) {
        check_pointer("the pointer to the result", value);
        *value = its.context.*setting;
      },
      where);
}

}  // namespace

extern "C" {

char const* cublasGetStatusName(cublasStatus_t status) { return find_status(status).name; }
char const* cublasGetStatusString(cublasStatus_t status) { return find_status(status).text; }

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return call_without_handle([&] {
    check_pointer("handle", handle);
    if (cudaError_t const error = cuda_cpu::process::start(); error != cudaSuccess)
      throw CallError{CUBLAS_STATUS_NOT_INITIALIZED,
                      "the device cannot be used: " + std::string(cudaGetErrorName(error))};
    TRACE_SPAN(trace, "cublas_create");
    *handle = reinterpret_cast<cublasHandle_t>(contexts().add(std::make_shared<Context>()));
  });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return call(handle, [&](Call const&) {
    TRACE_SPAN(trace, "cublas_destroy");
    contexts().take(handle);
  });
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return call_without_handle([&] {
    check_pointer("version", version);
    *version = kVersion;
  });
}
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return call_without_handle([&] {
    check_pointer("value", value);
    if (type < MAJOR_VERSION || type > PATCH_LEVEL) fail_invalid(fmt::format("type is {}", static_cast<int>(type)));
    int const values[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    *value = values[type];
  });
}
std::size_t cublasGetCudartVersion() { return CUDART_VERSION; }

// Nothing here needs the program's workspace, so only the rule for its address is checked.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t) {
  return call(handle, [&](Call const&) {
    if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
      fail_invalid("the workspace is not aligned to 256 bytes");
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return set(handle, &Context::stream, stream);
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return get(handle, &Context::stream, stream);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return set(handle, &Context::pointer_mode, mode,
             mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return get(handle, &Context::pointer_mode, mode);
}

// The following have no effect: results are the same in all modes.

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set(handle, &Context::math_mode, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return get(handle, &Context::math_mode, mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return set(handle, &Context::atomics_mode, mode,
             mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return get(handle, &Context::atomics_mode, mode);
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return set(handle, &Context::sm_count_target, count, count >= 0);
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return get(handle, &Context::sm_count_target, count);
}

}  // extern "C"
