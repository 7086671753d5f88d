// Declares what a Driver keeps, for the files of its methods.
#pragma once

// One target for all of it, whichever class a line stands in.
#define TRACE_TARGET "tracing::cuda"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing_core/cuda/driver.h"
#include "tracing_core/tracing.h"

namespace tracing::inline v1::cuda {

/// `stream 3`, or `the default stream`.
inline std::string text_of_stream(std::uint64_t number) {
  return number == 0 ? "the default stream" : fmt::format("stream {}", number);
}

struct Driver::State {
  State(DriverApi const& table, DriverOptions given);

  /// Tells of a failure; `call` makes the call's text, which costs nothing while all goes well.
  template <class F>
  CUresult tell(CUresult result, F&& call) {
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) [[unlikely]] {
      std::string detail = last_message();  // before any other call
      fail(result, std::forward<F>(call)(), std::move(detail));
    }
    return result;
  }
  void fail(CUresult code, std::string_view call, std::string detail);
  std::string last_message() const { return options.last_message ? options.last_message() : std::string(); }
  void tell_loss(Loss const& loss);

  /// Says in the spans of launches that their end was observed.
  void complete(std::vector<Launch> const& launches, std::string_view observed_by);

  /// Null until open_device() was called.
  CUcontext opened() const;
  std::string kernel_of(CUfunction function) const;
  using Names = std::vector<std::unordered_map<CUfunction, std::string>::node_type>;
  /// The names of a module's functions, to be put back where they are still its.
  Names take_names(CUmodule module);
  void put_back(CUmodule module, Names names);
  std::string text_of(CUstream stream) { return text_of_stream(log.number_of(stream)); }
  std::string text_of(CUevent event) { return fmt::format("event {}", log.number_of(event)); }
  /// Whether what the stream is asked to do is captured and not done; says so in the span.
  bool is_capturing(Span const& span, CUstream stream) const;

  DriverApi const api;
  DriverOptions const options;
  std::string_view const blocking_by;  // who asks that each launch waits for its end; empty where nobody does
  bool const blocking;
  LaunchLog log;
  mutable std::mutex mutex;
  CUcontext context = nullptr;                                              // guarded by mutex
  std::atomic<int> device{0};
  std::unordered_map<CUfunction, std::string> kernels;                      // guarded by mutex
  std::unordered_multimap<CUmodule, CUfunction> functions;                  // guarded by mutex
  std::optional<Loss> loss;                                                 // guarded by mutex
};

}  // namespace tracing::inline v1::cuda
