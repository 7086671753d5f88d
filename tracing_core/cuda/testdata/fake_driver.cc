// A library that fails in one of the ways of a CUDA driver. It does not have the driver's file name, because NVRTC
// would use it.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstring>

#include "tracing_core/cuda/driver_api.h"

#undef cuGetProcAddress
#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

// The number of calls that were resolved in another version than their row has.
[[maybe_unused]] int not_of_its_row = 0;

struct Row {
  char const* symbol;
  int version;
};
[[maybe_unused]] constexpr Row kRows[] = {
#define FAKE_ROW(member, symbol, version) {#symbol, version},
    TRACING_CUDA_DRIVER_CALLS(FAKE_ROW)
#undef FAKE_ROW
};

[[maybe_unused]] CUresult init(unsigned) { return static_cast<CUresult>(FAKE_INIT); }
[[maybe_unused]] CUresult count(int* devices) {
  *devices = FAKE_DEVICES;
  return CUDA_SUCCESS;
}
[[maybe_unused]] CUresult name(char* text, int room, CUdevice) {
  std::strncpy(text, not_of_its_row == 0 ? "as their rows say" : "not as their rows say",
               static_cast<std::size_t>(room));
  return CUDA_SUCCESS;
}
[[maybe_unused]] CUresult nothing() { return CUDA_ERROR_NOT_SUPPORTED; }

}  // namespace

FAKE CUresult cuDriverGetVersion([[maybe_unused]] int* version) {
#ifdef FAKE_STUB
  return CUDA_ERROR_STUB_LIBRARY;
#else
  *version = FAKE_VERSION;
  return CUDA_SUCCESS;
#endif
}

#if FAKE_VERSION >= 12000
FAKE CUresult cuGetProcAddress_v2(char const* symbol, void** address, int version, cuuint64_t,
                                  CUdriverProcAddressQueryResult* result) {
  *address = nullptr;
  *result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (std::strcmp(symbol, FAKE_LACKS) == 0) return CUDA_ERROR_NOT_FOUND;
  for (auto const& row : kRows) {
    if (std::strcmp(symbol, row.symbol) != 0) continue;
    if (row.version != version) ++not_of_its_row;
    *address = reinterpret_cast<void*>(nothing);
  }
  if (*address == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (std::strcmp(symbol, "cuInit") == 0) *address = reinterpret_cast<void*>(init);
  if (std::strcmp(symbol, "cuDeviceGetCount") == 0) *address = reinterpret_cast<void*>(count);
  if (std::strcmp(symbol, "cuDeviceGetName") == 0) *address = reinterpret_cast<void*>(name);
  *result = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}
#endif
