// Driver::State: the data of a Driver, shared by the source files of its methods. Each of the files first sets
// TRACE_TARGET to the part of the library whose records it emits.
#pragma once

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
#include "tracing_core/cuda/driver/launch_log.h"
#include "tracing_core/emit/for_callers.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// Returns `stream 3`, or `the default stream`.
inline std::string text_of_stream(std::uint64_t number) {
  return number == 0 ? "the default stream" : fmt::format("stream {}", number);
}

namespace internal {

// Holds the text of Dim3::fields(), made once for all layers, without the general way of printing a tuple.
class DimText {
 public:
  /// Returns the text, until the next call. It is made only if the last call was for other dimensions.
  std::string_view of(Dim3 const& dim) noexcept {
    if (size_ == 0 || dim_ != dim) make(dim);
    return {text_, size_};
  }

 private:
  void make(Dim3 const& dim) noexcept;

  Dim3 dim_{};
  std::size_t size_ = 0;
  char text_[sizeof "(4294967295, 4294967295, 4294967295)"] = {};
};

// Keeps the call that this thread is making, for current_device_call(): the outermost call, if the driver makes calls
// of a Driver itself.
class [[nodiscard]] DeviceCallScope {
 public:
  DeviceCallScope(LaunchLog& its_log, CUstream its_stream, int its_device, LaunchId its_launch = 0,
                  bool its_runs = true) noexcept;
  DeviceCallScope(DeviceCallScope const&) = delete;
  DeviceCallScope& operator=(DeviceCallScope const&) = delete;
  ~DeviceCallScope();

  LaunchLog& log;
  CUstream const stream;
  int const device;
  LaunchId const launch;
  bool const runs;  // not captured into a graph

 private:
  bool const is_outermost_;
};

}  // namespace internal

struct Driver::State {
  template <class T>
  using Shown =
      std::conditional_t<std::is_same_v<T, CUstream> || std::is_same_v<T, CUevent> || std::is_same_v<T, CUfunction>,
                         std::string, T const&>;

  State(DriverApi const& table, DriverOptions given);

  /// Returns a scope for the duration of a call that gives the device work.
  internal::DeviceCallScope calling(CUstream stream) noexcept { return {log, stream, device.load()}; }

  /// Reports `result` if it is an error, and returns it. The text of the call is made from `call` and `arguments`, only
  /// for an error. In this text streams and events appear by their numbers, functions by their names.
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
  /// Frees the host functions that the driver never calls, since the context is lost, and closes their spans.
  void free_host_calls();
  /// Records in the spans of launches that their end was observed.
  void report_completed(std::vector<Launch> launches, std::string_view observed_by);
  /// Returns which launches report_completed() needs.
  LaunchLog::Completed reported() const noexcept;

  /// Emits what a kernel uses: at its lookup or, if the driver loads kernels lazily, after its first launch, because
  /// the driver would load the kernel to answer, and may wait for the device to do so.
  void report_found(CUfunction function, char const* symbol) const;
  void report_use(CUfunction function, std::string_view kernel) const;
  /// Returns true if the driver loads kernels when they are first launched (CUDA_MODULE_LOADING=LAZY, its default).
  bool loads_lazily() const noexcept;

  /// Returns the context of open_device(); null before open_device().
  CUcontext opened() const;
  /// Makes a launch by `call`, which is named in errors.
  template <class Call>
  inline CUresult launch(CUfunction function, Dim3 grid, Dim3 block, unsigned shared_bytes, CUstream stream,
                         char const* name, Call const& call);
  /// Makes a launch by `call` and follows it to its end. `describe` gives the text of the call for errors.
  template <class MakePerf, class Call, class Describe>
  inline CUresult follow(internal::LaunchScope const& numbered, CUfunction function, Dim3 grid, Dim3 block,
                         CUstream stream, char const* capture, Span&& span, MakePerf const& make_perf, Call const& call,
                         Describe const& describe);
  /// An executable graph. In the log, its handle stands for a function.
  struct Graph {
    std::uint64_t number = 0;
    std::size_t nodes = 0;
  };
  Graph graph_of(CUgraphExec exec);
  /// Returns the result of a call, or CUDA_ERROR_NOT_SUPPORTED if the table lacks it.
  template <class Function, class... A>
  static CUresult if_there(Function function, A... arguments) {
    return function == nullptr ? CUDA_ERROR_NOT_SUPPORTED : function(arguments...);
  }
  /// Returns an argument as the text of a call shows it.
  std::string shown(CUstream stream) { return text_of_stream(log.number_of(stream)); }
  std::string shown(CUevent event) { return fmt::format("event {}", log.number_of(event)); }
  std::string shown(CUfunction function) { return std::string(log.name_of(function)); }
  template <class T>
  static T const& shown(T const& argument) {
    return argument;
  }
  /// Returns the field `capture` of a call: `active` or `invalidated` if calls on the stream are captured into a graph
  /// instead of executed; otherwise null. A span has this field from its beginning, for layers that count calls.
  char const* capture_of(CUstream stream) const;

  DriverOptions const options;
  DriverApi const api;
  bool const blocking;  // each launch waits for its end
  LaunchLog log;
  std::atomic<int> device{0};
  mutable tracing::support::Mutex mutex;
  CUcontext context TRACING_GUARDED_BY(mutex) = nullptr;
  std::unordered_map<CUmodule, std::string> modules TRACING_GUARDED_BY(mutex);  // their names
  std::unordered_map<CUlibrary, std::string> libraries TRACING_GUARDED_BY(mutex);
  std::unordered_map<CUgraphExec, Graph> graphs TRACING_GUARDED_BY(mutex);
  std::uint64_t last_graph TRACING_GUARDED_BY(mutex) = 0;
  std::optional<Loss> loss TRACING_GUARDED_BY(mutex);
};

}}}  // namespace tracing::v1::cuda
