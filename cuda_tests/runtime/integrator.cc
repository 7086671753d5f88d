#define TRACE_TARGET "cuda_tests::codegen::integrator"
#include "cuda_tests/runtime/integrator.h"

#include "tracing_core/tracing.h"

namespace cuda_tests {

tracing::cuda::CompileRequest integrate(Kernel const& kernel, KernelSettings const& settings) {
  TRACE_SPAN(trace, "integrate", settings);
  tracing::cuda::CompileRequest request;
  request.name = kernel.file;
  request.source = kernel.source;
  request.arch = settings.arch;
  request.options = kernel.options;
  request.include_folders = settings.include_folders;
  request.kernel_name = kernel.entry;
  request.kernel_id = pretty_text(kernel.id);
  request.no_cache = true;
  if (kernel.entry.find('<') != std::string::npos) request.name_expressions = {kernel.entry};
  return request;
}

}  // namespace cuda_tests
