#include "testlog/outputs/nvtx.h"

#include <string_view>

// Defined by testlog::nvtx; null in a program that does not link it.
extern "C" [[gnu::weak]] testlog::internal::NvtxFunctions const testlog_nvtx_functions;

namespace testlog { inline namespace v1 {

std::unique_ptr<tracing::Layer> start_nvtx(Nvtx direction, std::string& reports) {
  if (direction == Nvtx::off) return nullptr;
  auto const report = [&](std::string_view what) {
    std::string_view const value = direction == Nvtx::in ? "in" : direction == Nvtx::out ? "out" : "both";
    reports.append("testlog: TRACE_NVTX=").append(value).append(": ").append(what).append("\n");
  };
  internal::NvtxFunctions const* const functions = &testlog_nvtx_functions;
  if (functions == nullptr) return report("the program does not link testlog::nvtx"), nullptr;
  std::string const not_received = direction == Nvtx::out ? std::string() : functions->receive();
  std::unique_ptr<tracing::Layer> layer = direction == Nvtx::in ? nullptr : functions->make_layer();
  // NVTX has one receiver: with `both`, either testlog or the tool that runs the program.
  if (direction == Nvtx::in && !not_received.empty()) report(not_received);
  if (direction == Nvtx::out && layer == nullptr) report("no NVTX tool, such as nsys, runs the program");
  return layer;
}

}}  // namespace testlog::v1
