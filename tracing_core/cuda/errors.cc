#include "tracing_core/cuda/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tracing::inline v1::cuda {
namespace {

struct ErrorRow {
  int code;  // a number, since older headers lack some
  std::string_view name;
  std::string_view description;
  Lost lost = Lost::nothing;
};

constexpr ErrorRow kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "an argument is outside of its range"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "there is not enough memory on the device, or pinned memory on the host"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "cuInit was not called or failed; in a child of fork() CUDA cannot be used"},
    {4, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down, as at the end of the process"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "the library is the toolkit's stub, which is for linking and runs nothing"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "this call needs a newer driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "the device is in use by another process that has it for itself, or is forbidden"},
    {100, "CUDA_ERROR_NO_DEVICE", "the driver finds no device"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "there is no device of this number, or it cannot do what was asked"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "what was to be loaded as a module is no module"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "this thread has no current context, or its context is none any more"},
    {205, "CUDA_ERROR_MAP_FAILED", "memory could not be mapped"},
    {206, "CUDA_ERROR_UNMAP_FAILED", "memory could not be unmapped"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the module holds no code for this device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "the device's memory has an error that its check bits cannot correct"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "these devices cannot reach each other's memory"},
    {218, "CUDA_ERROR_INVALID_PTX", "the PTX does not compile; the log of the load says where"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "the link between devices had an error that could not be corrected"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "the driver's PTX compiler library is missing"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the PTX was made by a toolkit that is newer than the driver; update the driver, or compile for the device "
     "itself"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED",
     "compiling PTX is switched off, and the module holds no code for this device"},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
     "the code waits for the device within a kernel, which is no longer supported"},
    {226, "CUDA_ERROR_CONTAINED", "a fault of the hardware or of a neighbouring device's memory was contained",
     Lost::process},
    {300, "CUDA_ERROR_INVALID_SOURCE", "the source of the kernel is invalid"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND", "there is no such file"},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "a library that the driver needs lacks a symbol"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "a library that the driver needs does not start"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "a system call failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "a stream, event, function or module is none, or is none any more"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "what the call needs is not in a state that allows it"},
    {500, "CUDA_ERROR_NOT_FOUND", "there is nothing of this name"},
    {600, "CUDA_ERROR_NOT_READY", "what was asked about is still under way; no error"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel read or wrote memory that is not its own", Lost::process},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "the launch needs more registers, threads or shared memory than there are, or has too many arguments"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel ran longer than this device allows", Lost::process},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "the launch uses a way of texturing that does not fit"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "access to the other device's memory is on already"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "access to the other device's memory is not on"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "the device's primary context is in use already"},
    // Not lost by an error: somebody destroyed it or never made it, and another may be made.
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED",
     "the current context was destroyed, or is a device's primary context that nobody uses yet"},
    {710, "CUDA_ERROR_ASSERT", "an assert() of a kernel failed", Lost::context},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "this memory of the host is pinned already"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "this memory of the host was not pinned"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "a kernel's stack overflowed or was overwritten", Lost::process},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "a kernel met an illegal instruction", Lost::process},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel read or wrote at an address that is not aligned", Lost::process},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "a kernel's instruction met an address of another kind of memory",
     Lost::process},
    {718, "CUDA_ERROR_INVALID_PC", "a kernel jumped to where no code is", Lost::process},
    {719, "CUDA_ERROR_LAUNCH_FAILED",
     "a kernel met an exception, as by an access through an invalid pointer or beyond its shared memory", Lost::process},
    // Nothing is lost, though 714 to 721 are else of that kind: such a launch is refused, and runs nowhere.
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "a cooperative launch has more blocks than fit on the device at once"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "a kernel ended without giving back its tensor memory", Lost::process},
    {800, "CUDA_ERROR_NOT_PERMITTED", "this is not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "this system or device does not support it"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready; a service that the devices need is not running"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "the kernel's part of the driver and this library are of different versions; after an update, restart the "
     "machine"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "this device does not support the forward compatible driver"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the server that shares the device (MPS) cannot be reached"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", "a call to the server that shares the device (MPS) failed"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the server that shares the device (MPS) takes no one now"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
     "the server that shares the device (MPS) has no room for another client"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
     "the server that shares the device (MPS) has no room for a connection"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "the server that shares the device (MPS) has ended this client",
     Lost::process},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "this cannot be done while the stream is captured"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "an earlier error has spoilt the stream's capture"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "this would join two captures"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture did not begin in this stream"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "the capture has a branch that does not come back to its first stream"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "this would tie what is captured to what is not"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "the default stream waits for the stream that is captured"},
    {907, "CUDA_ERROR_CAPTURED_EVENT", "the event was last recorded in a capture"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "the capture began on another thread"},
    {909, "CUDA_ERROR_TIMEOUT", "the wait took too long"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "the graph changed in a way that an update does not allow"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE", "a device outside of CUDA, whose data was waited for, failed", Lost::process},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "the launch's clusters do not fit"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "the function is not loaded yet"},
    {999, "CUDA_ERROR_UNKNOWN", "the driver knows no more than that something failed"},
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

}  // namespace tracing::inline v1::cuda
