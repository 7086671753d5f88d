// Declares Device, the state of the CPU backend's one device, and what each of the driver's calls checks first.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cuda_tests/cpu/cpu_driver.h"
#include "cuda_tests/cpu/streams.h"
#include "cuda_tests/executor/device_memory.h"
#include "cuda_tests/executor/executor.h"
#include "cuda_tests/executor/program.h"

namespace cuda_tests::cpu {

/// Things of the user by handles that are never given out twice, so that an old one is known to be none. Thread-safe.
template <class T>
class Handles {
 public:
  explicit Handles(std::uintptr_t first) : next_(first) {}

  std::uintptr_t add(std::shared_ptr<T> thing) {
    std::lock_guard const lock(mutex_);
    things_.emplace(next_, std::move(thing));
    return std::exchange(next_, next_ + 16);
  }
  template <class Handle>
  std::shared_ptr<T> find(Handle handle) const {
    std::lock_guard const lock(mutex_);
    auto const found = things_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == things_.end() ? nullptr : found->second;
  }
  template <class Handle>
  std::shared_ptr<T> take(Handle handle) {
    std::lock_guard const lock(mutex_);
    auto const node = things_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return node.empty() ? nullptr : node.mapped();
  }
  /// All of which `matches` is true.
  template <class Matches>
  void take_if(Matches matches) {
    std::lock_guard const lock(mutex_);
    std::erase_if(things_, [&](auto const& entry) { return matches(*entry.second); });
  }
  std::map<std::uintptr_t, std::shared_ptr<T>> take_all() {
    std::lock_guard const lock(mutex_);
    return std::exchange(things_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::uintptr_t next_;
  std::map<std::uintptr_t, std::shared_ptr<T>> things_;
};

struct LoadedModule {
  std::shared_ptr<Program const> program;
  std::mutex mutex;
  std::map<std::string, CUfunction, std::less<>> functions;  // those that were looked up; guarded by mutex
};

struct LoadedFunction {
  std::shared_ptr<Program const> program;  // which the kernel belongs to
  ptx::Function const* function = nullptr;
  DecodedKernel const* kernel = nullptr;
  std::atomic<int> max_dynamic_shared_bytes{0};
  std::atomic<int> shared_carveout{-1};
};

/// When an event was recorded for the last time.
struct Recording {
  Mark mark;
  std::atomic<std::int64_t> time_ns{0};
};

struct Event {
  bool has_time = true;
  std::mutex mutex;
  std::shared_ptr<Recording> recording;  // null before the first; guarded by mutex
};

/// What kernels print, until the host waits for them. Thread-safe.
class PrintBuffer {
 public:
  void append(std::string_view text);
  /// Writes it to stdout, as the driver does.
  void flush();

 private:
  std::mutex mutex_;
  std::string text_;  // guarded by mutex_
};

/// One for the process; never destroyed, since its threads and those of the user may outlast main().
class Device {
 public:
  explicit Device(CpuDriverOptions const& options);

  /// Null before cuInit.
  static Device* get() noexcept;
  static CUresult start(unsigned flags);

  Executor& executor();  // starts its threads at the first call
  unsigned multiprocessors() const noexcept;

  /// CUDA_SUCCESS until a kernel fails.
  CUresult sticky() const noexcept { return sticky_.load(std::memory_order_acquire); }
  void fail(CpuDriverFault fault);
  std::optional<CpuDriverFault> last_fault() const;

  /// The stream of a handle, also of the special ones; null where it is none.
  Streams::Handle find_stream(CUstream handle);
  /// Puts work into a stream: it is left out where the context was lost before its turn. What it throws loses the context.
  Mark submit(Streams::Handle const& stream, std::function<void()> work);
  /// The same for a function of the user. What it throws is the user's and ends the process, as on a thread of the driver.
  Mark submit_host_function(Streams::Handle const& stream, std::function<void()> function);
  /// Waits, writes what kernels printed, and returns what became of the context.
  CUresult wait(std::vector<Mark> const& marks);

  /// Frees what the context holds, when nobody retains it any more.
  void clear();

  CpuDriverOptions const options;
  bool const launches_block;  // by CUDA_LAUNCH_BLOCKING
  DeviceMemory memory;
  Streams streams;
  PrintBuffer prints;
  std::stop_source stop;  // of kernels, once one has failed
  std::atomic<unsigned> retained{0};
  Handles<Streams::Handle::element_type> stream_handles{0x10000000};
  Handles<Event> events{0x20000000};
  Handles<LoadedModule> modules{0x30000000};
  Handles<LoadedFunction> functions{0x40000000};

  // All guarded by allocations_mutex.
  std::mutex allocations_mutex;
  std::map<std::uintptr_t, bool> allocations;                   // whether made in the order of a stream
  std::map<std::uintptr_t, std::shared_ptr<void>> host_memory;  // pinned
  std::vector<Mark> pending_frees;

  std::mutex statistics_mutex;
  RunStatistics statistics;  // guarded by statistics_mutex

 private:
  std::once_flag executor_started_;
  std::unique_ptr<Executor> executor_;
  std::atomic<CUresult> sticky_{CUDA_SUCCESS};
  mutable std::mutex fault_mutex_;
  std::optional<CpuDriverFault> fault_;  // guarded by fault_mutex_
};

/// What a thread has of its own.
struct ThreadState {
  CUcontext current = nullptr;
  bool runs_host_function = false;
  std::string last_message;
  Streams::Handle stream;  // for CU_STREAM_PER_THREAD

  ~ThreadState();
};
ThreadState& this_thread() noexcept;

/// The context; there is one.
CUcontext primary_context() noexcept;

/// CUDA_ERROR_NOT_INITIALIZED before cuInit and in a child of fork(); CUDA_ERROR_NOT_PERMITTED in a host function.
CUresult check_started() noexcept;
/// The same; CUDA_ERROR_INVALID_CONTEXT without a current context, and what the context was lost with.
CUresult check_context() noexcept;

/// Makes `code` the result and `message` what cpu_driver_last_message() says about it.
CUresult refuse(CUresult code, std::string message);

/// Runs the body of a call; nothing is thrown through the driver's C interface.
template <class Body>
CUresult guarded(Body const& body) noexcept {
  try {
    this_thread().last_message.clear();
    return body();
  } catch (std::bad_alloc const&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (std::system_error const&) {
    return CUDA_ERROR_OPERATING_SYSTEM;  // no thread was to be had
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

/// The body of a call that needs cuInit alone.
template <class Body>
CUresult after_init(Body const& body) noexcept {
  return guarded([&]() -> CUresult {
    if (auto const result = check_started(); result != CUDA_SUCCESS) return result;
    return body(*Device::get());
  });
}

/// The body of a call that needs a current context.
template <class Body>
CUresult in_context(Body const& body) noexcept {
  return guarded([&]() -> CUresult {
    if (auto const result = check_context(); result != CUDA_SUCCESS) return result;
    return body(*Device::get());
  });
}

}  // namespace cuda_tests::cpu
