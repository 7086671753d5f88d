// Declares Driver, the calls of a CUDA driver with spans around them, errors as events, and launches followed to their end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/dim3.h"
#include "tracing_core/cuda/driver_api.h"
#include "tracing_core/cuda/loss.h"

namespace tracing::inline v1::cuda {

/// What a driver of one's own can tell that a GPU's cannot.
struct DriverOptions {
  /// The launch that failed, by current_launch() when it was made, and what is known of it; zero where none failed.
  struct Failed {
    LaunchId launch = 0;
    std::string detail;
  };
  std::function<Failed()> failed_launch;
  /// What the driver knows of why the latest call of this thread failed, beyond its code: which argument is wrong, what of a
  /// module cannot be run and where it stands. Empty where there is no more to say. Asked on the thread of a call that
  /// failed, before any other call; stands as `detail` in the event about it.
  std::function<std::string()> last_message;
  /// Each launch waits for its end: exact errors, and spans that hold the kernel's time, at the price of all overlap. By
  /// default what CUDA_LAUNCH_BLOCKING=1 in the environment says.
  std::optional<bool> launch_blocking;
};

/// A driver's calls. Each one that has a method here does what cuda.h says of it and returns what the driver returned, and
/// besides:
///
/// * is a span, `launch`, `mem_alloc`, `memcpy_htod`, `stream_synchronize` ..., level TRACE, with its sizes, stream, device;
/// * a failing call is an event, level ERROR, with the call's text, the code, its name and what it means, and what the driver
///   knows of it (DriverOptions::last_message); WARN once the context is lost, when all calls fail;
/// * what a driver says of a module that it loads are events, level WARN: that an entry cannot be run, for one;
/// * a launch stays known, with its span, until a query, an event or a synchronisation finds that it has ended: that is an
///   event `completed` in the span of the launch. An error that comes up later names the launches that may have caused it.
///
/// Everything else is in api(), and told() tells of its failures. Thread-safe where the driver is. Costs a few branches for
/// each call while nobody listens, and for launches, synchronisations and streams a mutex and a small allocation.
class Driver {
 public:
  explicit Driver(DriverApi const& api, DriverOptions options = {});
  Driver(Driver const&) = delete;
  Driver& operator=(Driver const&) = delete;
  ~Driver();

  DriverApi const& api() const noexcept;

  /// Initialises the driver and makes the primary context of a device current on this thread, where it stays until the process
  /// ends. An event, level INFO, says which device it is.
  CUresult open_device(int ordinal);
  /// Makes the context of open_device() current on this thread; CUDA_ERROR_INVALID_CONTEXT before that.
  CUresult make_current();
  bool has_device() const;

  CUresult module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes);
  CUresult module_unload(CUmodule module);
  CUresult module_get_function(CUfunction* function, CUmodule module, char const* name);

  CUresult launch_kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream, void** params);
  /// `function` is called in the span that this thread is in now, below `launch_host_func`; never, where the context is lost
  /// before.
  CUresult launch_host_func(CUstream stream, CUhostFn function, void* data);

  CUresult mem_alloc(CUdeviceptr* pointer, std::size_t bytes);
  CUresult mem_free(CUdeviceptr pointer);
  CUresult mem_alloc_async(CUdeviceptr* pointer, std::size_t bytes, CUstream stream);
  CUresult mem_free_async(CUdeviceptr pointer, CUstream stream);
  CUresult mem_host_alloc(void** pointer, std::size_t bytes, unsigned flags);
  CUresult mem_free_host(void* pointer);

  CUresult memcpy_htod(CUdeviceptr to, void const* from, std::size_t bytes);
  CUresult memcpy_dtoh(void* to, CUdeviceptr from, std::size_t bytes);
  CUresult memcpy_dtod(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
  CUresult memcpy_htod_async(CUdeviceptr to, void const* from, std::size_t bytes, CUstream stream);
  CUresult memcpy_dtoh_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream);
  CUresult memcpy_dtod_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream);
  CUresult memset_d8(CUdeviceptr to, unsigned char value, std::size_t count);
  CUresult memset_d32(CUdeviceptr to, unsigned value, std::size_t count);
  CUresult memset_d8_async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream);
  CUresult memset_d32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream);

  CUresult stream_create(CUstream* stream, unsigned flags);
  CUresult stream_destroy(CUstream stream);
  CUresult stream_synchronize(CUstream stream);
  CUresult stream_query(CUstream stream);
  CUresult stream_wait_event(CUstream stream, CUevent event, unsigned flags);

  CUresult event_create(CUevent* event, unsigned flags);
  CUresult event_destroy(CUevent event);
  CUresult event_record(CUevent event, CUstream stream);
  CUresult event_query(CUevent event);
  CUresult event_synchronize(CUevent event);
  CUresult event_elapsed_time(float* milliseconds, CUevent start, CUevent end);

  CUresult ctx_synchronize();

  /// For calls that have no method here: where `result` is an error, an event tells it with the call's text. Returns it.
  CUresult told(CUresult result, std::string_view call);

  /// How the context was lost; empty while it was not.
  std::optional<Loss> loss() const;
  /// Waits for everything on the device of open_device(), whatever is current on this thread, and returns what that says. For
  /// checks between tests.
  CUresult check();

  /// The launches whose end nobody has observed.
  LaunchLog const& launches() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls `f` for each Driver of the process; one that is to be destroyed waits for the call to end.
void for_each_driver(std::function<void(Driver&)> const& f);

/// How contexts were lost whose Driver is destroyed since; each is given once.
std::vector<Loss> take_losses_of_gone_drivers();

}  // namespace tracing::inline v1::cuda
