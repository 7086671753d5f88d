// Device holds the state and the properties of the CPU backend's device. Also declares the calls, and the checks at the
// beginning of each call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>  // for std::once_flag
#include <new>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/images.h"
#include "cuda_cpu/cpu/streams.h"
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/executor/call_site.h"
#include "cuda_cpu/executor/device_memory.h"
#include "cuda_cpu/executor/executor.h"
#include "cuda_cpu/executor/program.h"
#include "tracing_core/cuda/activity.h"
#include "tracing_core/cuda/allow_leaks.h"
#include "tracing_core/cuda/driver_api.h"
#include "tracing_core/emit/caller_scope.h"
#include "tracing_core/support/mutex.h"
#include "tracing_core/support/running_test.h"

namespace cuda_cpu::cpu {

// The calls, with the driver's signatures, under their names in the table of calls.
#define CUDA_CPU_DECLARE(member, symbol, version) std::remove_pointer_t<PFN_##symbol##_v##version> member;
TRACING_CUDA_BASIC_DRIVER_CALLS(CUDA_CPU_DECLARE)
#undef CUDA_CPU_DECLARE

// The properties of the device, and the limits of a launch.
inline constexpr std::string_view kDeviceName = "testlog CPU device";
inline constexpr int kDriverVersion = 13000;
inline constexpr int kCapability = 90;        // compute capability 9.0
inline constexpr int kNewestPtxVersion = 90;  // 9.0
inline constexpr int kMaxThreads = 1024;      // in a block
inline constexpr int kMaxBlocksPerMultiprocessor = 32;
inline constexpr int kMaxBlockZ = 64;
inline constexpr int kMaxGridX = 2147483647;
inline constexpr int kMaxGridYZ = 65535;
inline constexpr int kSharedBytes = 48 * 1024;  // in a block, without a request
inline constexpr int kSharedBytesOnRequest = 227 * 1024;
inline constexpr int kMaxTextureSide = 1 << 17;   // in texels
inline constexpr int kMaxLinearTexels = 1 << 28;  // for a texture of linear memory
inline constexpr int kTexturePitchAlignment = 32;

using tracing::support::Mutex;
using tracing::support::MutexLock;

/// Maps handles to the user's objects. Never reuses a handle, so that stale handles are recognized. Thread-safe.
template <class T>
class Handles {
 public:
  explicit Handles(std::uintptr_t first) : next_(first) {}

  std::uintptr_t add(std::shared_ptr<T> object) {
    MutexLock const lock(mutex_);
    objects_.emplace(next_, std::move(object));
    return std::exchange(next_, next_ + 16);
  }
  template <class Handle>
  std::shared_ptr<T> find(Handle handle) const {
    MutexLock const lock(mutex_);
    auto const found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  template <class Handle>
  std::shared_ptr<T> take(Handle handle) {
    MutexLock const lock(mutex_);
    auto const node = objects_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return node.empty() ? nullptr : node.mapped();
  }
  /// Removes the objects for which `matches` is true.
  template <class Matches>
  void take_if(Matches matches) {
    MutexLock const lock(mutex_);
    std::erase_if(objects_, [&](auto const& entry) { return matches(*entry.second); });
  }
  std::map<std::uintptr_t, std::shared_ptr<T>> take_all() {
    MutexLock const lock(mutex_);
    return std::exchange(objects_, {});
  }

 private:
  mutable Mutex mutex_;
  std::uintptr_t next_ TRACING_GUARDED_BY(mutex_);
  std::map<std::uintptr_t, std::shared_ptr<T>> objects_ TRACING_GUARDED_BY(mutex_);
};

struct LoadedModule {
  std::shared_ptr<Program const> program;
  Mutex mutex;
  std::map<std::string, CUfunction, std::less<>> functions TRACING_GUARDED_BY(mutex);  // looked up so far
};

struct LoadedFunction {
  std::shared_ptr<Program const> program;  // the kernel's program
  ptx::Function const* function = nullptr;
  DecodedKernel const* kernel = nullptr;
  std::string name;  // as people read it: kernel_name()
  std::atomic<int> max_dynamic_shared_bytes{0};
  std::atomic<int> shared_carveout{-1};
};

/// The latest recording of an event.
struct Recording {
  Mark mark;
  std::atomic<std::int64_t> time_ns{0};
};

struct Event {
  bool has_time = true;
  Mutex mutex;
  std::shared_ptr<Recording> recording TRACING_GUARDED_BY(mutex);  // null before the first recording
};

/// What the report of a leak says of an allocation besides its name.
struct LeakNote {
  char const* test = tracing::support::running_test();  // null if no test was running
  bool is_allowed = tracing::cuda::AllowLeaks::exists();
};

struct Allocation {
  std::size_t bytes = 0;
  bool is_ordered = false;  // allocated in the order of a stream
  bool is_managed = false;
  void const* pool = nullptr;  // see assign_to_pool()
  LeakNote leak_note = {};
};

struct PinnedMemory {
  std::shared_ptr<void> held;
  unsigned flags = 0;  // flags of its allocation
  LeakNote leak_note = {};
};

/// Collects the output of printf() in kernels until the host synchronizes. Thread-safe.
class PrintBuffer {
 public:
  void append(std::string_view text);
  /// Writes the output to stdout, like the driver.
  void flush();

 private:
  Mutex mutex_;
  std::string text_ TRACING_GUARDED_BY(mutex_);
};

/// The device. The process has one. It is never destroyed, for its threads and the user's threads may run after main().
class Device {
 public:
  explicit Device(CpuDriverOptions const& options);

  /// Returns null before cuInit.
  static Device* get() noexcept;
  static CUresult start(unsigned flags);

  Executor& executor();  // the first call starts its threads
  unsigned multiprocessors() const noexcept;

  /// Returns CUDA_SUCCESS until a kernel fails; then the error that every call returns.
  CUresult sticky() const noexcept { return sticky_.load(std::memory_order_acquire); }
  void fail(CpuDriverFault fault);
  std::optional<CpuDriverFault> last_fault() const;

  /// Returns the stream of a handle, including CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, or null for an unknown
  /// handle.
  Streams::Handle find_stream(CUstream handle);
  /// Adds work to a stream. The work is skipped if the context is broken by then. If it throws, the exception breaks
  /// the context.
  Mark submit(Streams::Handle const& stream, std::function<void()> work);
  /// Adds a function of the user to a stream. It is also skipped if the context is broken. If it throws, the process
  /// ends, as on a thread of the driver.
  Mark submit_host_function(Streams::Handle const& stream, std::function<void()> function);
  /// Waits, writes the output of kernels, and returns sticky().
  CUresult wait(std::vector<Mark> const& marks);

  /// Called by work that has accessed memory. If work of another stream accessed the same memory and nothing orders the
  /// two, returns what to report. `name`: "kernel f".
  std::optional<std::string> find_stream_race(std::string const& name, std::vector<AccessedRange> accessed);
  /// The same for a copy or a fill, which breaks the context then. Null: no memory of the device.
  void note_copy(char const* name, void const* target, void const* source, std::size_t bytes);

  /// Returns the texture or surface of a handle, or null for an unknown handle.
  std::shared_ptr<Image const> find_image(std::uint64_t handle) const;

  /// Frees everything in the context. Called when the context is no longer retained.
  void clear();
  /// Writes to stderr which allocations the user has not freed.
  void report_leaks();
  std::atomic<bool> has_leaked{false};  // set once leaks were written

  CpuDriverOptions const options;
  bool const launches_block;  // set by CUDA_LAUNCH_BLOCKING
  DeviceMemory memory;
  Streams streams;
  StreamRaces races;  // used if launches are checked for races
  PrintBuffer prints;
  std::stop_source stop;  // stops all kernels after one has failed
  std::atomic<unsigned> retained{0};
  Handles<Streams::Handle::element_type> stream_handles{0x10000000};
  Handles<Event> events{0x20000000};
  Handles<LoadedModule> modules{0x30000000};
  Handles<LoadedFunction> functions{0x40000000};
  Handles<Array> arrays{0x50000000};
  Handles<ImageObject> textures{0x60000000};
  Handles<ImageObject> surfaces{0x70000000};

  Mutex allocations_mutex;
  std::map<std::uintptr_t, Allocation> allocations TRACING_GUARDED_BY(allocations_mutex);
  std::map<std::uintptr_t, PinnedMemory> host_memory TRACING_GUARDED_BY(allocations_mutex);
  std::set<std::uintptr_t> registered TRACING_GUARDED_BY(allocations_mutex);  // memory of the user
  std::map<void const*, PoolUse> pools TRACING_GUARDED_BY(allocations_mutex);
  std::atomic<int> pending_frees{0};  // stream-ordered frees that have not run yet

 private:
  std::once_flag executor_started_;
  std::unique_ptr<Executor> executor_;
  std::atomic<CUresult> sticky_{CUDA_SUCCESS};
  mutable Mutex fault_mutex_;
  std::optional<CpuDriverFault> fault_ TRACING_GUARDED_BY(fault_mutex_);
};

/// The state of a thread.
struct DriverThreadState {
  CUcontext current = nullptr;
  bool runs_host_function = false;
  bool copies_in_turn = false;   // see CopiesInTurn
  bool is_memory_error = false;  // the latest call freed or copied memory that is not allocated
  void const* entry = nullptr;   // see CallerScope
  bool has_launch_site = false;  // launch_site is where the launch that is being made was written as <<<...>>>
  CallSite launch_site;
  std::string last_message;
  Streams::Handle stream;  // the stream of CU_STREAM_PER_THREAD

  void end() noexcept;  // see lasting_thread_local()
};
DriverThreadState& this_thread() noexcept;

/// While it exists, asynchronous copies of this thread access memory, even pageable memory, when their stream reaches
/// them, as copies of graphs do.
class [[nodiscard]] CopiesInTurn {
 public:
  CopiesInTurn() noexcept : outer_(std::exchange(this_thread().copies_in_turn, true)) {}
  CopiesInTurn(CopiesInTurn const&) = delete;
  CopiesInTurn& operator=(CopiesInTurn const&) = delete;
  ~CopiesInTurn() { this_thread().copies_in_turn = outer_; }

 private:
  bool const outer_;
};

/// While it exists, this_call() finds the caller of the function that makes it, unless an outer function has one, and
/// records have the target of this caller. If a Driver of the program makes the call, the Driver records it.
class [[nodiscard]] CallerScope {
 public:
  [[gnu::always_inline]] CallerScope() noexcept : CallerScope(__builtin_frame_address(0)) {}
  CallerScope(CallerScope const&) = delete;
  CallerScope& operator=(CallerScope const&) = delete;
  ~CallerScope();

 private:
  explicit CallerScope(void const* frame) noexcept;

  bool is_outermost_;
  tracing::internal::CallerScope const records_;
  tracing::internal::SilenceScope const silence_;
};
/// Returns where the program made the call that this thread is making, as CpuDriverOptions::frames says. Empty without
/// a CallerScope.
CallSite this_call() noexcept;

/// Returns the only context.
CUcontext primary_context() noexcept;

/// Returns CUDA_ERROR_NOT_INITIALIZED before cuInit and in a child of fork(); CUDA_ERROR_NOT_PERMITTED in a host
/// function.
CUresult check_started() noexcept;
/// As check_started(); also returns CUDA_ERROR_INVALID_CONTEXT without a current context, and the error that broke the
/// context.
CUresult check_context() noexcept;

/// Returns `code` and sets cpu_driver_last_message().
CUresult refuse(CUresult code, std::string message);
/// As refuse(), for a call that frees or copies memory that is not allocated.
CUresult refuse_memory(std::string message);
/// Refuses `what`, the source or the target of a copy, because it does not lie within one allocation.
CUresult refuse_range(char const* what, CUdeviceptr address, std::size_t bytes);

/// Runs the body of a call and turns exceptions into error codes.
template <class Body>
CUresult guarded(Body const& body) noexcept {
  try {
    this_thread().last_message.clear();
    this_thread().is_memory_error = false;
    return body();
  } catch (std::bad_alloc const&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (std::system_error const&) {
    return CUDA_ERROR_OPERATING_SYSTEM;  // a thread could not be started
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

// Return true if the device allows grids or blocks of this size, whatever the kernel. An empty size is too small.
bool is_possible_grid(Dimensions const& grid) noexcept;
bool is_possible_block(Dimensions const& block) noexcept;
/// Returns an error, explained, if the device cannot run a launch of this shape.
CUresult check_launch(LoadedFunction const& function, LaunchShape const& shape);
/// Copies the arguments of a launch into the layout of the entry. cuLaunchKernel() takes them in one of two forms.
CUresult read_parameters(ptx::Function const& entry, void** pointers, void** extra, std::vector<std::byte>& parameters);

/// Returns `work`, which copies or sets memory. If device activity is recorded, the returned function also reports when
/// it ran.
template <class F>
auto reporting(tracing::cuda::ActivityKind kind, std::size_t bytes, F work) {
  return [call = tracing::cuda::current_device_call(kind), kind, bytes, work = std::move(work)] {
    if (!call) return work();
    auto const begin = tracing::Instant::now();
    work();
    tracing::cuda::report_activity(*call,
                                   {.kind = kind, .begin = begin, .end = tracing::Instant::now(), .bytes = bytes});
  };
}

/// Runs the body of a call that only needs cuInit.
template <class Body>
CUresult after_init(Body const& body) noexcept {
  return guarded([&]() -> CUresult {
    if (auto const result = check_started(); result != CUDA_SUCCESS) return result;
    return body(*Device::get());
  });
}

/// Runs the body of a call that needs a current context.
template <class Body>
CUresult in_context(Body const& body) noexcept {
  return guarded([&]() -> CUresult {
    if (auto const result = check_context(); result != CUDA_SUCCESS) return result;
    return body(*Device::get());
  });
}

/// Runs the body of a call that needs a current context and a stream, given by its handle.
template <class Body>
CUresult on_stream(CUstream handle, Body const& body) noexcept {
  return in_context([&](Device& device) {
    Streams::Handle const stream = device.find_stream(handle);
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(device, stream);
  });
}

}  // namespace cuda_cpu::cpu
