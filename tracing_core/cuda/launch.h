// Launch: a kernel launch that a Driver has made.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tracing_core/cuda/dim3.h"
#include "tracing_core/emit/span.h"

namespace tracing::inline v1::cuda {

/// The number of a launch, counted from 1 in the process; zero is none.
using LaunchId = std::uint64_t;

/// A launch and its span, which stays open until the end of the launch is observed.
struct Launch {
  LaunchId id = 0;
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::uint64_t stream = 0;  ///< as in the field `stream`: 0 for the default stream
  std::chrono::steady_clock::time_point at;
  Span span;  ///< none if it is disabled
};

/// The launch that this thread is making; zero outside of Driver::launch_kernel(). A driver implemented in the same
/// process reads it, so that it can report later which launch failed.
LaunchId current_launch() noexcept;

namespace internal {

// Gives the launch that this thread is making a new number, for the lifetime of the object.
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
}  // namespace tracing::inline v1::cuda
