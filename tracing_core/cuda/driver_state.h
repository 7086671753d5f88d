// Driver::State: the data of a Driver, shared by the source files of its methods.
#pragma once

// One target for all records, whatever the class that emits them.
#define TRACE_TARGET "tracing::cuda"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
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

struct Driver::State {
  State(DriverApi const& table, DriverOptions given);

  /// Reports `result` if it is an error; returns it. `call` makes the text of the call, only for an error.
  template <class F>
  CUresult check(CUresult result, F&& call) {
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) [[unlikely]] {
      std::string detail = options.last_message ? options.last_message() : std::string();  // before any other call
      report_error(result, std::forward<F>(call)(), std::move(detail));
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
  std::string text_of(CUstream stream) { return text_of_stream(log.number_of(stream)); }
  std::string text_of(CUevent event) { return fmt::format("event {}", log.number_of(event)); }
  /// Whether calls on the stream are captured into a graph instead of executed; recorded in the span.
  bool is_capturing(Span const& span, CUstream stream) const;

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
  std::unordered_map<CUfunction, Kernel> kernels TRACING_GUARDED_BY(mutex);
  std::optional<Loss> loss TRACING_GUARDED_BY(mutex);
};

}  // namespace tracing::inline v1::cuda
