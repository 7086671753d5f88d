#define TRACE_TARGET "tracing::cuda"
#include "cuda_cpu/graph/errors.h"

#include <fmt/format.h>

#include <cstdio>

#include "tracing_core/tracing.h"

namespace cuda_cpu::graph {

char const* error_name(cudaError_t error) noexcept {
  switch (static_cast<int>(error)) {
#define CUDA_CPU_ERROR(name, number) \
  case number:                       \
    return #name;
#include "cuda_cpu/graph/errors.inc"
#undef CUDA_CPU_ERROR
    default: return "unrecognized error code";
  }
}

cudaError_t refuse(cudaError_t error, std::string_view message) noexcept {
  try {
    TRACE_ERROR("{}", message, tracing::kv("error", tracing::display(error_name(error))),
                tracing::kv("code", static_cast<int>(error)));
    explain(fmt::format("{}: {}", error_name(error), message));
  } catch (...) {  // out of memory
  }
  return error;
}

void explain(std::string_view message) noexcept {
  if (!TRACE_ENABLED(error)) std::fprintf(stderr, "testlog: %.*s\n", static_cast<int>(message.size()), message.data());
}

}  // namespace cuda_cpu::graph
