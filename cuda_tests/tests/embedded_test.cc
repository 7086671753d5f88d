// Kernels embedded as machine code, as far as they can be checked without a GPU.
#include <testlog/testlog.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "cuda_tests/kernels/embedded.h"
#include "cuda_tests/kernels/kernels.h"
#include "cuda_tests/tests/on_backend.h"
#include "tracing_core/cuda/compile.h"

namespace cuda_tests { namespace {

TEST_LOG(EmbeddedKernels, HaveTheMangledNamesOfTheCompiler) {
  std::string why;
  Backend* const cpu = Backend::cpu(why);
  if (cpu == nullptr) GTEST_SKIP() << why;
  for (FloatKind const kind : {FloatKind::F16, FloatKind::F32, FloatKind::F64}) {
    Kernel const kernel = matmul_kernel(kind);
    tracing::cuda::CompileRequest request{
        .name = kernel.file, .source = std::string(kernel.source), .arch = cpu->arch()};
    request.include_folders = cpu->include_folders();
    request.name_expressions = {kernel.entry};
    EXPECT_EQ(embedded_entry(kernel.entry), cpu->compiler().get(request)->lowered_names.front());
  }
}

TEST_LOG(EmbeddedKernels, KeepTheirNamesIfTheyAreNoTemplates) { EXPECT_EQ(embedded_entry("saxpy"), "saxpy"); }

TEST_LOG(EmbeddedKernels, AreEmbeddedAllOrNone) {
  constexpr std::uint32_t kFatBinary = 0xba55ed50;  // the first word of a fat binary
  bool const has_any = !embedded_module("saxpy.cu").empty();
  for (char const* const file : {"faults.cu", "histogram.cu", "identity.cu", "matmul.cu", "reduce.cu", "saxpy.cu",
                                 "scan.cu", "softmax.cu", "transpose.cu"}) {
    auto const image = embedded_module(file);
    ASSERT_EQ(!image.empty(), has_any) << file;
    std::uint32_t begin = kFatBinary;
    if (has_any) std::memcpy(&begin, image.data(), std::min(image.size(), sizeof(begin)));
    EXPECT_EQ(begin, kFatBinary) << file;
  }
  EXPECT_TRUE(embedded_module("unknown.cu").empty());
}

}}  // namespace cuda_tests
