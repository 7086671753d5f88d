// Declares compile_key(), under which a cache keeps what was compiled.
#pragma once

#include <string>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda::internal {

/// A request's key, or the reason why it has none.
struct CompileKey {
  std::string hex{};      ///< empty: there is none
  std::string why_not{};  ///< not empty: the result depends on what is not known here
};

/// Two requests have the same key where NVRTC gives the same for both: source, its name, options, architecture, name
/// expressions, headers in memory, the content of every file that may be included, NVRTC's version and file. Reads those
/// files.
CompileKey compile_key(NvrtcApi const& nvrtc, CompileRequest const& request);

}  // namespace tracing::inline v1::cuda::internal
