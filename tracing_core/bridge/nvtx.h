// The bridge to and from NVTX, the annotations that NVIDIA's tools show: a layer that makes NVTX ranges of spans, and a
// receiver that makes spans of the NVTX ranges of libraries.
//
// Link tracing::nvtx. docs/nvtx.md has an example and the limits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/collect/layer.h"
#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace bridge {

/// The NVTX domain of the ranges and marks that this bridge makes.
inline constexpr char const* kNvtxDomain = "testlog";

/// Returns a layer that makes a push/pop range of each period in which a thread is in a span, and a mark of each event.
/// A range has the span's name, without its fields, so that tools sum up equal names. The category is the target.
/// Returns null, which RegistryBuilder ignores, if no NVTX tool such as Nsight Systems runs the program.
///
/// The layer is thread-safe. Makes nothing of records with a time or track of their own, since NVTX has no past.
std::unique_ptr<Layer> nvtx_layer();

/// A push/pop range of the calling thread around the spans that it enters, such as a test. Its name is a registered
/// string, which `nsys profile --capture-range=nvtx -p '<name>@testlog'` finds. Does nothing if no NVTX tool runs the
/// program. Must be destroyed on the thread that made it.
class NvtxRange {
 public:
  explicit NvtxRange(std::string_view name) noexcept;
  NvtxRange(NvtxRange const&) = delete;
  NvtxRange& operator=(NvtxRange const&) = delete;
  ~NvtxRange();
};

/// Makes spans of the NVTX ranges of this process, and events of the marks, with the level info and the target
/// `nvtx::<domain>`. Call it before the first NVTX call of the libraries, which look for a receiver only once.
///
/// Sets NVTX_INJECTION64_PATH if tracing::nvtx is in a shared library. If it is linked statically, receives only the
/// ranges of the program's own code, not of shared libraries. Returns an empty text, or why nothing is received: a tool
/// has set the variable, which stays as it is. Not thread-safe, because it changes the environment.
std::string receive_nvtx();

}}}  // namespace tracing::v1::bridge
