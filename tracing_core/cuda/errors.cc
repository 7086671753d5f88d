#include "tracing_core/cuda/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tracing { inline namespace v1 { namespace cuda {
namespace {

struct ErrorRow {
  int code;  // a number, since older headers lack some of the names
  std::string_view name;
  std::string_view description;
  Lost lost = Lost::nothing;
};

constexpr ErrorRow kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "an argument is out of range"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "not enough memory on the device, or not enough pinned memory on the host"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "cuInit was not called or failed; CUDA cannot be used in a child of fork()"},
    {4, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down, as it does when the process ends"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "the library is the toolkit's stub, which is for linking only"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "this call needs a newer driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "another process uses the device exclusively, or its use is prohibited"},
    {100, "CUDA_ERROR_NO_DEVICE", "the driver finds no device"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "no device has this number, or it does not support the request"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "the image is not a module"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "this thread has no current context, or its context is no longer valid"},
    {205, "CUDA_ERROR_MAP_FAILED", "memory could not be mapped"},
    {206, "CUDA_ERROR_UNMAP_FAILED", "memory could not be unmapped"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the module contains no code for this device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "the device's memory has an uncorrectable ECC error"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "these devices cannot access each other's memory"},
    {218, "CUDA_ERROR_INVALID_PTX", "the PTX does not compile; see the log of the load"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "an uncorrectable NVLink error"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "the driver's PTX compiler library is missing"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the PTX is from a toolkit newer than the driver; update the driver, or compile for the device's architecture "
     "(sm_XX)"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED",
     "compiling PTX is disabled, and the module contains no code for this device"},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
     "the kernel synchronises with the device, which is no longer supported"},
    {226, "CUDA_ERROR_CONTAINED", "a hardware fault, or a fault in the memory of a peer device, was contained",
     Lost::process},
    {300, "CUDA_ERROR_INVALID_SOURCE", "the kernel's source is invalid"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", "the file was not found"},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "a shared library that the driver needs lacks a symbol"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "a shared library that the driver needs failed to initialise"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "a system call failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "a stream, event, function or module handle is invalid or was destroyed"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "a resource of the call is not in a valid state"},
    {500, "CUDA_ERROR_NOT_FOUND", "the name was not found"},
    {600, "CUDA_ERROR_NOT_READY", "the work has not completed yet; not an error"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel read or wrote an invalid address", Lost::process},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "the launch needs more registers, threads or shared memory than available, or has too many arguments"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel exceeded the device's time limit", Lost::process},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "the launch uses an incompatible texturing mode"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "access to the peer device's memory is already enabled"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "access to the peer device's memory is not enabled"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the device's primary context is already in use"},
    // This error loses nothing: the context was destroyed or never created, and another context can be created.
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED",
     "the current context was destroyed, or is a primary context that is not initialised"},
    {710, "CUDA_ERROR_ASSERT", "an assert() in a kernel failed", Lost::context},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "this host memory is already pinned"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "this host memory is not pinned"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "a kernel's stack overflowed or was corrupted", Lost::process},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "a kernel executed an illegal instruction", Lost::process},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel read or wrote a misaligned address", Lost::process},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "a kernel's instruction was given an address of the wrong address space",
     Lost::process},
    {718, "CUDA_ERROR_INVALID_PC", "a kernel's program counter left its code", Lost::process},
    {719, "CUDA_ERROR_LAUNCH_FAILED",
     "an exception in a kernel, such as a trap or an access through an invalid pointer or beyond shared memory",
     Lost::process},
    // Unlike its neighbours this code loses nothing: the launch is refused and does not run.
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "a cooperative launch has more blocks than the device can run at once"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "a kernel ended without freeing its tensor memory", Lost::process},
    {800, "CUDA_ERROR_NOT_PERMITTED", "the operation is not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "this system or device does not support the operation"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready: a service that the devices need is not running"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "the versions of the kernel driver and of this library differ; restart the machine after an update"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "this device does not support the forward-compatible driver"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS server cannot be reached"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", "a call to the MPS server failed"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server does not accept clients now"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "the MPS server has its maximum number of clients"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "the MPS server has its maximum number of connections"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the MPS server terminated this client", Lost::process},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "the operation is not permitted while the stream is being captured"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "an earlier error invalidated the stream's capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "the operation would merge two captures"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture did not begin in this stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "the capture has a branch that was not joined to its first stream"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "captured work would depend on work that is not captured"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "the default stream would wait for a stream that is being captured"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "the event was last recorded in a capture"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "the capture began on another thread"},
    {909, "CUDA_ERROR_TIMEOUT", "the wait timed out"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph changed in a way that an update does not allow"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE", "an external device, whose data was waited for, failed", Lost::process},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "the launch's cluster size is invalid"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "the function is not loaded yet"},
    {999, "CUDA_ERROR_UNKNOWN", "an unknown internal error"},
};
static_assert(std::is_sorted(std::begin(kErrors), std::end(kErrors), [](auto& a, auto& b) { return a.code < b.code; }));

ErrorRow const* find(CUresult code) noexcept {
  auto const* const row = std::lower_bound(std::begin(kErrors), std::end(kErrors), static_cast<int>(code),
                                           [](ErrorRow const& left, int right) { return left.code < right; });
  return row != std::end(kErrors) && row->code == static_cast<int>(code) ? row : nullptr;
}

template <class Call>
std::string_view ask(Call call, CUresult code) noexcept {
  char const* text = nullptr;
  if (call == nullptr || call(code, &text) != CUDA_SUCCESS || text == nullptr) return {};
  return text;
}

}  // namespace

std::string_view error_name(CUresult code, DriverApi const* driver) noexcept {
  if (auto const* const row = find(code)) return row->name;
  return driver == nullptr ? std::string_view() : ask(driver->get_error_name, code);
}

std::string_view error_description(CUresult code, DriverApi const* driver) noexcept {
  if (auto const* const row = find(code)) return row->description;
  return driver == nullptr ? std::string_view() : ask(driver->get_error_string, code);
}

std::string error_text(CUresult code, DriverApi const* driver) {
  auto const name = error_name(code, driver);
  auto const description = error_description(code, driver);
  return fmt::format("{} {}{}{}", static_cast<int>(code), name.empty() ? "an unknown error" : name,
                     description.empty() ? "" : ": ", description);
}

Lost lost_with(CUresult code) noexcept {
  auto const* const row = find(code);
  return row == nullptr ? Lost::nothing : row->lost;
}

}}}  // namespace tracing::v1::cuda
