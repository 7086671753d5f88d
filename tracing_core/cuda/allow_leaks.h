// AllowLeaks: memory of the device that a program means to keep.
#pragma once

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// TRACE_CUDA_CHECK=leak does not report memory that was allocated, by whatever thread, while such an object exists:
///
///     tracing::cuda::AllowLeaks const allow;   // the pool is never destroyed
///     static Pool& pool = *new Pool;
///
/// Has no effect on a GPU, where nothing looks for leaks. Thread-safe.
class [[nodiscard]] AllowLeaks {
 public:
  AllowLeaks() noexcept;
  AllowLeaks(AllowLeaks const&) = delete;
  AllowLeaks& operator=(AllowLeaks const&) = delete;
  ~AllowLeaks();

  /// Returns true if any such object exists in the process.
  static bool exists() noexcept;
};

}}}  // namespace tracing::v1::cuda
