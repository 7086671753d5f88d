#include "cuda_tests/kernels/kernels.h"

#include <string>
#include <utility>

#include "cuda_tests/kernels/texts.h"

namespace cuda_tests {
namespace {

Kernel kernel(std::string name, char const* file, std::string_view source, std::string entry, KernelId id) {
  return {"cuda_tests::kernels::" + std::move(name), file, source, std::move(entry), std::move(id), {}};
}

char const* type_of(FloatKind kind) {
  switch (kind) {
    case FloatKind::F16: return "__half";
    case FloatKind::F32: return "float";
    case FloatKind::F64: return "double";
  }
  return "";
}

}  // namespace

Kernel saxpy_kernel() {
  return kernel("Saxpy", "saxpy.cu", kSaxpyText, "saxpy", {{kSaxpyThreads}, {ElementType{FloatKind::F32}}});
}

Kernel matmul_kernel(FloatKind kind) {
  std::string const type = type_of(kind);
  std::string const tile = std::to_string(kMatmulTile);
  return kernel("Matmul<" + type + ">", "matmul.cu", kMatmulText, "matmul<" + type + "," + tile + ">",
                {{kMatmulTile, kMatmulTile}, {ElementType{kind}}});
}

Kernel block_sum_kernel(unsigned threads) {
  return kernel("BlockSum", "reduce.cu", kReduceText, "block_sum", {{threads}, {ElementType{FloatKind::F32}}});
}
Kernel scan_kernel(unsigned threads) {
  return kernel("Scan", "scan.cu", kScanText, "scan", {{threads}, {ScalarArgument{}}});
}
Kernel histogram_kernel() {
  return kernel("Histogram", "histogram.cu", kHistogramText, "histogram", {{kHistogramThreads}, {ScalarArgument{}}});
}

Kernel transpose_kernel() {
  return kernel("Transpose", "transpose.cu", kTransposeText, "transpose",
                {{kTransposeTile, 8}, {ElementType{FloatKind::F32}}});
}
Kernel softmax_kernel(unsigned threads) {
  return kernel("Softmax", "softmax.cu", kSoftmaxText, "softmax", {{threads}, {ElementType{FloatKind::F32}}});
}

Kernel identity_kernel() {
  Kernel identity =
      kernel("", "identity.cu", kIdentityText, "identity",
             {{16, 16}, {ElementType{FloatKind::F16}, ScalarArgument{}, TensorArgument{std::nullopt, kIdentityLine}}});
  identity.name = "cuda_tests::tensor::identity::identity_kernel::IdentityKernel<cuda_tests::Runtime>";
  return identity;
}

Kernel faults_kernel(char const* entry, unsigned threads) {
  return kernel(entry, "faults.cu", kFaultsText, entry, {{threads}, {ScalarArgument{}}});
}

}  // namespace cuda_tests
