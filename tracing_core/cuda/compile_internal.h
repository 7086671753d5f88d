// Functions shared by compile() and CompileCache.
#pragma once

#include <string>
#include <vector>

#include "tracing_core/cuda/compile.h"
#include "tracing_core/cuda/nvrtc_library.h"
#include "tracing_core/emit/span.h"

namespace tracing::inline v1::cuda::internal {

NvrtcVersion version_of(NvrtcApi const& nvrtc);

/// The request's options and include folders, as they are passed to NVRTC.
std::vector<std::string> shown_options(CompileRequest const& request);

/// The span `compile`; `cache` is where the result comes from, null if no cache is used.
Span make_compile_span(CompileRequest const& request, char const* cache);
void record_result(Span const& span, CompiledKernel const& kernel);

CompiledKernel compile(NvrtcApi const& nvrtc, CompileRequest const& request, char const* cache);

}  // namespace tracing::inline v1::cuda::internal
