// compile_key(): the key of a compiled kernel in a cache.
#pragma once

#include <string>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda::internal {

/// The key of a request, or the reason why it has none.
struct CompileKey {
  std::string hex{};      ///< empty: none
  std::string why_not{};  ///< what the result depends on that cannot be known; empty if there is a key
};

/// A digest of all that the result depends on: source, its name, options, architecture, name expressions, headers in
/// memory, the content of every file that may be included, and NVRTC's version and file. Reads those files.
CompileKey compile_key(NvrtcApi const& nvrtc, CompileRequest const& request);

}  // namespace tracing::inline v1::cuda::internal
