// Launch: a kernel launch that a Driver has made; Loss: how a Driver lost its context by a launch.
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tracing_core/emit/span.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// A number of blocks or threads along each of three axes. Recorded as a field it prints as `(4, 64, 1)`; see fields().
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
  /// Returns the value that a field gets.
  std::tuple<unsigned, unsigned, unsigned> fields() const noexcept { return {x, y, z}; }
  friend bool operator==(Dim3 const&, Dim3 const&) = default;
};

/// The number of a launch, counted from 1 in the process; zero stands for no launch.
using LaunchId = std::uint64_t;

/// A launch and its span, which stays open until the end of the launch is observed.
struct Launch {
  LaunchId id = 0;
  std::string_view kernel;  ///< the kernel's name, which is kept until the process ends
  Dim3 grid;
  Dim3 block;
  std::uint64_t stream = 0;  ///< as in the field `stream`: 0 for the default stream
  std::chrono::steady_clock::time_point at;
  Span span;  ///< empty if it is disabled
  Span perf;  ///< the perf span; empty if it is disabled
};

/// The loss of a context: the first call that reported the error, and the launches that may have caused it. A GPU does
/// not report which launch did. It is known if only one launch was outstanding, if launches block
/// (CUDA_LAUNCH_BLOCKING=1), or if DriverOptions::failed_launch names the launch.
struct Loss {
  CUresult code = CUDA_SUCCESS;
  std::string call;                ///< such as `cuStreamSynchronize(stream 1)`
  std::vector<Launch> candidates;  ///< oldest first; keeps their spans open
  std::uint64_t forgotten = 0;     ///< the number of further candidates
  bool exact = false;              ///< the only candidate certainly caused the error
  LaunchId launch = 0;             ///< from DriverOptions::failed_launch, even if it is not among the candidates
  std::string detail;              ///< what else the driver reported: kernel, line, address
  std::string work;                ///< from DriverOptions::failed_launch: what failed, if it was no launch

  /// Returns one line: `CUDA_ERROR_ILLEGAL_ADDRESS (700) from cuCtxSynchronize(): a kernel read or wrote an invalid
  /// address; caused by launch 3 of out_of_bounds`. With a detail, the detail comes first and the result of the call
  /// last.
  std::string to_string() const;
};

/// Returns the launch that this thread is making; zero outside of Driver::launch_kernel(). A driver that is implemented
/// in this process calls it, so that it can report later which launch failed.
LaunchId current_launch() noexcept;

namespace internal {

// Numbers the launch that this thread is making, for the lifetime of the object. If a driver that the launch is made
// with calls a Driver itself, both have one number.
class [[nodiscard]] LaunchScope {
 public:
  LaunchScope() noexcept;
  LaunchScope(LaunchScope const&) = delete;
  LaunchScope& operator=(LaunchScope const&) = delete;
  ~LaunchScope();
  LaunchId id() const noexcept { return id_; }

 private:
  LaunchId id_;
  LaunchId outer_;
};

}  // namespace internal
}}}  // namespace tracing::v1::cuda
