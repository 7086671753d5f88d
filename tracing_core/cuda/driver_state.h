// Driver::State: the data of a Driver, shared by the source files of its methods.
#pragma once

// One target for all records, whatever the class that emits them.
#define TRACE_TARGET "tracing::cuda"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/cuda/driver.h"
#include "tracing_core/cuda/launch_log.h"
#include "tracing_core/internal/mutex.h"
#include "tracing_core/tracing.h"

namespace tracing::inline v1::cuda {

/// `stream 3`, or `the default stream`.
inline std::string text_of_stream(std::uint64_t number) {
  return number == 0 ? "the default stream" : fmt::format("stream {}", number);
}

namespace internal {

// The call that this thread is making, for current_device_call().
class [[nodiscard]] DeviceCallScope {
 public:
  DeviceCallScope(LaunchLog& its_log, CUstream its_stream, int its_device, LaunchId its_launch = 0) noexcept;
  DeviceCallScope(DeviceCallScope const&) = delete;
  DeviceCallScope& operator=(DeviceCallScope const&) = delete;
  ~DeviceCallScope();

  LaunchLog& log;
  CUstream const stream;
  int const device;
  LaunchId const launch;

 private:
  DeviceCallScope const* outer_;
};

}  // namespace internal

struct Driver::State {
  template <class T>
  using Shown = std::conditional_t<std::is_same_v<T, CUstream> || std::is_same_v<T, CUevent>, std::string, T const&>;

  State(DriverApi const& table, DriverOptions given);

  /// For the duration of a call that gives the device work.
  internal::DeviceCallScope calling(CUstream stream) noexcept { return {log, stream, device.load()}; }

  /// Reports `result` if it is an error; returns it. `call` and `arguments` are the text of the call, which is made
  /// only for an error; streams and events appear by their numbers.
  template <class... A>
  CUresult check(CUresult result, fmt::format_string<Shown<A>...> call, A const&... arguments) {
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) [[unlikely]] {
      std::string detail = options.last_message ? options.last_message() : std::string();  // before any other call
      report_error(result, fmt::format(call, shown(arguments)...), std::move(detail));
    }
    return result;
  }
  void report_error(CUresult code, std::string_view call, std::string detail);
  void report_loss(Loss const& loss);
  /// Records in the spans of launches that their end was observed.
  void report_completed(std::vector<Launch> const& launches, std::string_view observed_by);

  /// The context of open_device(); null before.
  CUcontext opened() const;
  std::string kernel_of(CUfunction function) const;
  /// Makes a launch by `call`, which is named in errors.
  template <class Call>
  CUresult launch(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream, char const* name,
                  Call const& call);
  /// The placeholder of an argument in the text of a call.
  std::string shown(CUstream stream) { return text_of_stream(log.number_of(stream)); }
  std::string shown(CUevent event) { return fmt::format("event {}", log.number_of(event)); }
  template <class T>
  static T const& shown(T const& argument) {
    return argument;
  }
  /// The field `capture` of a call: `active` or `invalidated` if calls on the stream are captured into a graph instead of
  /// executed. The span has it from its beginning, for layers that count calls.
  std::optional<std::string_view> capture_of(CUstream stream) const;

  struct Kernel {
    CUmodule module = nullptr;
    std::string name;
  };

  DriverApi const api;
  DriverOptions const options;
  bool const blocking;  // each launch waits for its end
  LaunchLog log;
  std::atomic<int> device{0};
  mutable tracing::internal::Mutex mutex;
  CUcontext context TRACING_GUARDED_BY(mutex) = nullptr;
  std::unordered_map<CUmodule, std::string> modules TRACING_GUARDED_BY(mutex);  // their names
  std::unordered_map<CUfunction, Kernel> kernels TRACING_GUARDED_BY(mutex);
  std::optional<Loss> loss TRACING_GUARDED_BY(mutex);
};

}  // namespace tracing::inline v1::cuda
