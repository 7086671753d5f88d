// start_nvtx(): connects a session to NVTX, as TRACE_NVTX says.
#pragma once

#include <memory>
#include <string>

#include "testlog/environment.h"
#include "tracing_core/collect/layer.h"

namespace testlog { inline namespace v1 {

namespace internal {
/// What testlog::nvtx does for the session. The functions are those of tracing_core/bridge/nvtx.h.
struct NvtxFunctions {
  std::string (*receive)();
  std::unique_ptr<tracing::Layer> (*make_layer)();
};
}  // namespace internal

/// Starts to receive ranges, and returns the layer that makes ranges; null if none is wanted. Appends to `reports` why
/// what was asked for is not done.
std::unique_ptr<tracing::Layer> start_nvtx(Nvtx direction, std::string& reports);

}}  // namespace testlog::v1
