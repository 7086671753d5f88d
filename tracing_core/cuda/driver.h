// Driver: the calls of a CUDA driver with spans around them, errors as events, and launches followed to their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/driver_api.h"
#include "tracing_core/cuda/launch.h"
#include "tracing_core/emit/caller.h"

namespace tracing { inline namespace v1 { namespace cuda {

struct DriverOptions {
  /// A launch that failed, and an explanation.
  struct Failed {
    LaunchId launch = 0;  ///< the result of current_launch() during the launch; zero if no launch failed
    std::string detail;
    std::string work = {};  ///< what failed, if it was no launch: "cublasSgemm()"
  };
  /// For drivers that, unlike a GPU's, know which launch failed. Called when the context is lost.
  std::function<Failed()> failed_launch;
  /// For drivers that can explain why the latest call of this thread failed. Returns an empty text if the driver knows
  /// only the code. Called on the thread of the failed call before any other call; recorded as `detail` in the event of
  /// the error.
  std::function<std::string()> last_message;
  /// Called for each failed call that does not lose the context, after its event, with the text of the call and with
  /// `last_message()`. For programs that report errors without a subscriber.
  std::function<void(std::string_view call, std::string_view detail)> failed_call;
  /// On: the driver itself emits a perf span for each launch, so the Driver emits no `gpu_execute_program`.
  bool measures_launches = false;
  /// On: each launch waits for its kernel to end. Errors then name the launch exactly, and spans last as long as the
  /// kernel, but nothing overlaps. By default on if CUDA_LAUNCH_BLOCKING=1 in the environment.
  std::optional<bool> launch_blocking;
};

/// Makes the calls of a driver. Each method does what cuda.h documents for its call, and returns the driver's result.
/// In addition:
///
/// * Each call is a span, such as `launch`, `mem_alloc`, `memcpy_htod` or `stream_synchronize`, level TRACE, with
///   sizes, stream and device. If the call succeeds, the span has an event: `launched`, `allocated`, `freed`, `copied`
///   (with its duration and bandwidth) or `enqueued`. `module_load` with its event `loaded`, and the event
///   `found kernel` with the registers and memory that a kernel uses, have level DEBUG.
/// * The records have the target, file and line of the caller. Directives for tracing::cuda::{compile,memory,launch,
///   stream} select them, too.
/// * A failed call is an event, level ERROR, with the text of the call, the code, its name and its meaning. Its level
///   is WARN after the context is lost, when all calls fail.
/// * The driver's log of a module load is recorded as events: errors as ERROR, lines that begin with `info` or
///   `ptxas info` as DEBUG, other lines as WARN.
/// * A launch keeps its span open until a query, an event or a synchronisation observes its end, which adds an event
///   `completed` to the span. An error that is reported later names the launches that may have caused it.
/// * If perf spans are on, a launch is also a perf span, `gpu_execute_program`, with `grid_size` and `block_size`. It
///   lasts from the call until the end of the launch is observed; a launch that fails reports no duration.
///
/// A call that the table lacks fails with CUDA_ERROR_NOT_SUPPORTED. For calls without a method use api(); check()
/// reports their errors. Thread-safe if the driver is. Costs a few branches for each call while nothing is recorded;
/// synchronisations and streams also lock a mutex, and launches lock it twice. The names of kernels are kept until the
/// process ends.
class Driver {
 public:
  /// Begins to record device times if TRACE_CUDA_DEVICE_TIMES=on.
  explicit Driver(DriverApi const& api, DriverOptions options = {});
  Driver(Driver const&) = delete;
  Driver& operator=(Driver const&) = delete;
  ~Driver();

  DriverApi const& api() const noexcept;

  /// Initialises the driver, retains the primary context of a device until the process ends, and makes it current on
  /// this thread. An event, level INFO, names the device.
  CUresult open_device(int ordinal, Caller caller = Caller::here());
  /// Makes the context of open_device() current on this thread. Returns CUDA_ERROR_INVALID_CONTEXT before
  /// open_device().
  CUresult make_current(Caller caller = Caller::here());
  bool has_device() const;

  CUresult module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes,
                       Caller caller = Caller::here());
  /// Overload with options of the program. If `count` is not 0, the program reads the driver's log itself, and the log
  /// is not recorded.
  CUresult module_load(CUmodule* module, void const* image, std::string_view name, std::size_t bytes, unsigned count,
                       CUjit_option* options, void** values, Caller caller = Caller::here());
  CUresult module_unload(CUmodule module, Caller caller = Caller::here());
  CUresult module_get_function(CUfunction* function, CUmodule module, char const* name, Caller caller = Caller::here());

  /// As module_load(), for code whose kernels belong to no context. The span is `library_load`.
  CUresult library_load(CUlibrary* library, void const* image, std::string_view name, std::size_t bytes,
                        Caller caller = Caller::here());
  CUresult library_unload(CUlibrary library, Caller caller = Caller::here());
  /// Gives the kernel as a function for launch_kernel() in the current context.
  CUresult library_get_function(CUfunction* function, CUlibrary library, char const* name,
                                Caller caller = Caller::here());

  CUresult launch_kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream,
                         void** params, void** extra = nullptr, Caller caller = Caller::here());
  /// As launch_kernel(), for a kernel whose blocks wait for each other, as with grid.sync() of cooperative groups.
  CUresult launch_cooperative_kernel(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream,
                                     void** params, Caller caller = Caller::here());
  /// As launch_kernel(), with the attributes of `config`, such as the size of a cluster.
  CUresult launch_kernel_ex(CUlaunchConfig const& config, CUfunction function, void** params, void** extra = nullptr,
                            Caller caller = Caller::here());
  /// Calls `function` in the span `launch_host_func`. If the context is lost, the driver never calls the function, and
  /// the span is closed. A function that is captured into a graph is called outside of the span.
  CUresult launch_host_func(CUstream stream, CUhostFn function, void* data, Caller caller = Caller::here());

  CUresult mem_alloc(CUdeviceptr* pointer, std::size_t bytes, Caller caller = Caller::here());
  CUresult mem_free(CUdeviceptr pointer, Caller caller = Caller::here());
  CUresult mem_alloc_async(CUdeviceptr* pointer, std::size_t bytes, CUstream stream, Caller caller = Caller::here());
  CUresult mem_free_async(CUdeviceptr pointer, CUstream stream, Caller caller = Caller::here());
  CUresult mem_pool_create(CUmemoryPool* pool, CUmemPoolProps const& properties, Caller caller = Caller::here());
  /// Memory of the pool stays allocated until it is freed.
  CUresult mem_pool_destroy(CUmemoryPool pool, Caller caller = Caller::here());
  /// The span is that of mem_alloc_async(), with the field `pool`.
  CUresult mem_alloc_from_pool_async(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool, CUstream stream,
                                     Caller caller = Caller::here());
  CUresult mem_host_alloc(void** pointer, std::size_t bytes, unsigned flags, Caller caller = Caller::here());
  CUresult mem_free_host(void* pointer, Caller caller = Caller::here());
  CUresult mem_host_register(void* pointer, std::size_t bytes, unsigned flags, Caller caller = Caller::here());
  CUresult mem_host_unregister(void* pointer, Caller caller = Caller::here());
  CUresult array_3d_create(CUarray* array, CUDA_ARRAY3D_DESCRIPTOR const& descriptor, Caller caller = Caller::here());
  CUresult array_destroy(CUarray array, Caller caller = Caller::here());
  CUresult mem_alloc_managed(CUdeviceptr* pointer, std::size_t bytes, unsigned flags, Caller caller = Caller::here());

  CUresult memcpy_htod(CUdeviceptr to, void const* from, std::size_t bytes, Caller caller = Caller::here());
  CUresult memcpy_dtoh(void* to, CUdeviceptr from, std::size_t bytes, Caller caller = Caller::here());
  CUresult memcpy_dtod(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, Caller caller = Caller::here());
  CUresult memcpy_htod_async(CUdeviceptr to, void const* from, std::size_t bytes, CUstream stream,
                             Caller caller = Caller::here());
  CUresult memcpy_dtoh_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream,
                             Caller caller = Caller::here());
  CUresult memcpy_dtod_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream,
                             Caller caller = Caller::here());
  /// The spans have the bytes of a row, and the number of rows.
  CUresult memcpy_2d(CUDA_MEMCPY2D const& copy, Caller caller = Caller::here());
  CUresult memcpy_2d_async(CUDA_MEMCPY2D const& copy, CUstream stream, Caller caller = Caller::here());
  /// Copies from the device of one context to the device of another context.
  CUresult memcpy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                       std::size_t bytes, Caller caller = Caller::here());
  CUresult memcpy_peer_async(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                             std::size_t bytes, CUstream stream, Caller caller = Caller::here());
  /// The spans have the bytes of a row, and the numbers of rows and slices.
  CUresult memcpy_3d(CUDA_MEMCPY3D const& copy, Caller caller = Caller::here());
  CUresult memcpy_3d_async(CUDA_MEMCPY3D const& copy, CUstream stream, Caller caller = Caller::here());
  CUresult memset_d8(CUdeviceptr to, unsigned char value, std::size_t count, Caller caller = Caller::here());
  CUresult memset_d32(CUdeviceptr to, unsigned value, std::size_t count, Caller caller = Caller::here());
  CUresult memset_d8_async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream,
                           Caller caller = Caller::here());
  CUresult memset_d32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream,
                            Caller caller = Caller::here());
  /// Sets `columns` elements in each row; rows begin `pitch` bytes apart. The spans have the bytes of a row, and the
  /// number of rows.
  CUresult memset_d2d8_async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t columns,
                             std::size_t rows, CUstream stream, Caller caller = Caller::here());
  CUresult memset_d2d16_async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t columns,
                              std::size_t rows, CUstream stream, Caller caller = Caller::here());
  CUresult memset_d2d32_async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t columns, std::size_t rows,
                              CUstream stream, Caller caller = Caller::here());

  CUresult stream_create(CUstream* stream, unsigned flags, Caller caller = Caller::here());
  CUresult stream_destroy(CUstream stream, Caller caller = Caller::here());
  CUresult stream_synchronize(CUstream stream, Caller caller = Caller::here());
  CUresult stream_query(CUstream stream, Caller caller = Caller::here());
  CUresult stream_wait_event(CUstream stream, CUevent event, unsigned flags, Caller caller = Caller::here());

  CUresult event_create(CUevent* event, unsigned flags, Caller caller = Caller::here());
  CUresult event_destroy(CUevent event, Caller caller = Caller::here());
  CUresult event_record(CUevent event, CUstream stream, Caller caller = Caller::here());
  CUresult event_query(CUevent event, Caller caller = Caller::here());
  CUresult event_synchronize(CUevent event, Caller caller = Caller::here());
  CUresult event_elapsed_time(float* milliseconds, CUevent start, CUevent end, Caller caller = Caller::here());

  CUresult stream_begin_capture(CUstream stream, CUstreamCaptureMode mode, Caller caller = Caller::here());
  /// The span has the number of nodes.
  CUresult stream_end_capture(CUstream stream, CUgraph* graph, Caller caller = Caller::here());
  CUresult graph_destroy(CUgraph graph, Caller caller = Caller::here());
  /// The span has the number that the executable graph gets, counted from 1, and the number of its nodes.
  CUresult graph_instantiate(CUgraphExec* exec, CUgraph graph, unsigned long long flags,
                             Caller caller = Caller::here());
  CUresult graph_exec_destroy(CUgraphExec exec, Caller caller = Caller::here());
  /// Launches a graph in the span `graph_launch`. As a launch of a kernel, it is followed to its end, and named in an
  /// error that is reported later, as `graph 1`.
  CUresult graph_launch(CUgraphExec exec, CUstream stream, Caller caller = Caller::here());

  CUresult ctx_synchronize(Caller caller = Caller::here());

  /// Returns the value of the field `stream` in spans: 0 for the default stream.
  std::uint64_t number_of(CUstream stream);
  /// For calls without a method: if `result` is an error, reports it as an event with the text of the call. Returns
  /// `result`.
  CUresult check(CUresult result, std::string_view call, Caller caller = Caller::here());

  /// Returns how the context was lost; nothing if it was not.
  std::optional<Loss> loss() const;
  /// Waits for all work on the device of open_device(), whatever context is current on this thread. Returns the result
  /// of cuCtxSynchronize. For checks between tests.
  CUresult check_device(Caller caller = Caller::here());

  /// Returns the launches whose end has not been observed, oldest first; at most the last 256 of each stream.
  std::vector<Launch> outstanding_launches() const;
  /// Calls `visit` for the outstanding launches of all drivers. For handlers of signals: neither waits nor allocates.
  /// If a driver is in use at this moment, leaves out its launches and returns false.
  static bool visit_outstanding(void (*visit)(void* context, Launch const& launch), void* context) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace internal {

/// For a driver in this process, of which `init` is DriverApi::init: a Driver that makes its calls uses failed_launch,
/// last_message and measures_launches of `options`, unless its program set them. Called once, before the first Driver.
void set_options_of_driver(decltype(DriverApi::init) init, DriverOptions options);

}  // namespace internal

/// Calls `f` for each Driver of the process. Meanwhile, constructing or destroying a Driver waits, so `f` must do
/// neither.
void for_each_driver(std::function<void(Driver&)> const& f);

/// Returns the losses of drivers that have been destroyed, each once.
std::vector<Loss> take_losses_of_destroyed_drivers();

}}}  // namespace tracing::v1::cuda
