#include "cuda_cpu/libcuda/symbols.h"

#include <cudaProfiler.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <string>

#include "cuda_cpu/cpu/device.h"
#include "cuda_cpu/graph/errors.h"
#include "cuda_cpu/process/driver.h"
#include "tracing_core/support/mutex.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // some of the listed functions are deprecated

extern "C" {

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* parameters, int count, unsigned flags,
                        CUdevice device);

}  // extern "C"

namespace cuda_cpu::libcuda {
namespace {

// Calls the function with the default stream of the thread in place of stream 0.
template <auto kFunction>
struct PerThread;
template <class... A, CUresult (*kFunction)(A...)>
struct PerThread<kFunction> {
  static CUstream replaced(CUstream stream) noexcept { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }
  template <class T>
  static T replaced(T argument) noexcept {
    return argument;
  }
  static CUresult call(A... arguments) { return kFunction(replaced(arguments)...); }
};

struct Symbol {
  std::string_view name;
  int since;  // the version of CUDA that brought this signature
  void* function;
  void* per_thread;
};

template <class Function>
Symbol symbol(std::string_view name, int since, Function* function, Function* per_thread) noexcept {
  return {name, since, reinterpret_cast<void*>(function), reinterpret_cast<void*>(per_thread)};
}

// A row has the plain name and the newest version of the function, since cuda.h replaces the name by that version.
// Synchronous copies and fills need no form for per-thread default streams: they wait for all blocking streams, so also
// for the thread's stream.
Symbol const symbols[] = {
#define CUDA_CPU_SYMBOL(function, since) symbol(#function, since, &function, &function),
#define CUDA_CPU_STREAM_SYMBOL(function, since) symbol(#function, since, &function, &PerThread<&function>::call),
#include "cuda_cpu/libcuda/symbols.inc"
#undef CUDA_CPU_SYMBOL
#undef CUDA_CPU_STREAM_SYMBOL
    symbol("cuCtxCreate", 2000, &cuCtxCreate_v2, &cuCtxCreate_v2),
    symbol("cuCtxCreate", 11040, &cuCtxCreate_v3, &cuCtxCreate_v3),
    symbol("cuCtxCreate", 12050, &cuCtxCreate_v4, &cuCtxCreate_v4),
};

struct RefusedFunction {
  std::string_view name;
  char const* reason;
};
constexpr RefusedFunction refused_functions[] = {
#define CUDA_CPU_REFUSED(name, reason) {#name, reason},
#include "cuda_cpu/libcuda/refused.inc"
#undef CUDA_CPU_REFUSED
};

std::string text_of(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// Explains once. NVIDIA's static runtime library asks for twenty such functions before report_foreign_runtime()
// explains its failure.
void explain_version(std::string_view name, int version, int since) noexcept {
  static std::atomic<bool> is_explained{false};
  if (is_explained.exchange(true)) return;
  try {
    graph::refuse(cudaErrorSymbolNotFound,
                  fmt::format("{}() as of CUDA {} is not supported, only as it is since CUDA {}; others may follow "
                              "that are not listed",
                              name, text_of(version), text_of(since)));
  } catch (...) {  // out of memory
  }
}

// Explains once that a function of the driver exists, but not here. Says nothing before the device is open: libraries
// then ask for tables of functions that they may never call.
void explain_refused(std::string_view name) noexcept {
  static tracing::support::Mutex mutex;
  static auto& named = *new std::set<std::string, std::less<>>;
  auto const* const its = std::ranges::find(refused_functions, name, &RefusedFunction::name);
  if (its == std::end(refused_functions) || cpu::Device::get() == nullptr) return;
  try {
    tracing::support::MutexLock const lock(mutex);
    if (!named.emplace(name).second) return;
    graph::explain(fmt::format("{}() is not supported{}{}; the program asks for it, and gets a null pointer", name,
                               *its->reason == '\0' ? "" : ": ", its->reason));
  } catch (...) {  // out of memory
  }
}

}  // namespace

CUdriverProcAddressQueryResult find_symbol(std::string_view name, int version, bool per_thread,
                                           void** function) noexcept {
  *function = nullptr;
  Symbol const* found = nullptr;
  Symbol const* oldest = nullptr;
  for (Symbol const& its : symbols) {
    if (its.name != name) continue;
    if (its.since <= version) found = &its;  // rows of one name are in the order of their versions
    if (oldest == nullptr) oldest = &its;
  }
  if (oldest == nullptr) {
    explain_refused(name);
    return CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  if (found == nullptr) {
    explain_version(name, version, oldest->since);
    return CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  }
  *function = per_thread ? found->per_thread : found->function;
  return CU_GET_PROC_ADDRESS_SUCCESS;
}

// Called by refused.cc, which declares it, too.
int refuse(char const* name, char const* reason) noexcept;
int refuse(char const* name, char const* reason) noexcept {
  try {
    std::string const call = std::string(name) + "()";
    process::driver().check(CUDA_ERROR_NOT_SUPPORTED, call);
    graph::explain(call + " is not supported" + (*reason == '\0' ? "" : std::string(": ") + reason));
  } catch (...) {  // out of memory
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace cuda_cpu::libcuda
