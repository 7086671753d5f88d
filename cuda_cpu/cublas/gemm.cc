#include "cuda_cpu/cublas/gemm.h"

#include <fmt/format.h>

#include <cmath>

namespace cuda_cpu::cublas {
namespace {

template <class S>
void apply(Access& access, Epilogue const& its, Dense<S>& values) {
  if (its.bias != nullptr) {
    Matrix const bias{"the bias", its.bias, its.bias_type, values.rows()};
    values.colwise() += load<S>(access, bias, its.bias, CUBLAS_OP_N, values.rows(), 1).col(0);
  }
  if (its.function == Epilogue::Function::relu) values = values.cwiseMax(S(0));
  if (its.function == Epilogue::Function::gelu) {
    // The approximation by tanh, which cuBLASLt documents.
    values = values.unaryExpr(
        [](S x) { return S(0.5) * x * (S(1) + std::tanh(S(0.7978845608028654) * (x + S(0.044715) * x * x * x))); });
  }
}

// The matrices of one product of a batch.
struct Pointers {
  void const* a;
  void const* b;
  void const* c;
  void const* d;
};

template <class S>
void multiply(Access& access, Gemm const& its, Pointers const& at, S alpha, S beta) {
  Dense<S> values = Dense<S>::Zero(its.m, its.n);
  if (alpha != 0 && its.k > 0) {
    Dense<S> const a = load<S>(access, its.a, at.a, its.op_a, its.m, its.k);
    Dense<S> const b = load<S>(access, its.b, at.b, its.op_b, its.k, its.n);
    values.noalias() = a * b;
    values *= alpha;
  }
  if (beta != 0) values += beta * load<S>(access, its.c, at.c, CUBLAS_OP_N, its.m, its.n);
  apply(access, its.epilogue, values);
  store(access, its.d, at.d, values);
}

// Finds the matrices of each product of a batch.
class Products {
 public:
  Products(Access& access, Gemm const& its, Matrix const& matrix)
      : begin_(static_cast<std::byte const*>(matrix.memory)),
        stride_(matrix.batch_stride * static_cast<std::int64_t>(size_of(matrix.type))) {
    if (its.by_pointers)
      pointers_ = static_cast<void const* const*>(
          access.read({matrix.name, matrix.memory, sizeof(void*), its.batches, 1, its.batches}));
  }
  void const* operator[](std::int64_t product) const {
    return pointers_ != nullptr ? pointers_[product] : begin_ + product * stride_;
  }

 private:
  std::byte const* begin_;
  std::int64_t stride_;  // in bytes
  void const* const* pointers_ = nullptr;
};

void check_types(Gemm const& its) {
  bool const sums_doubles = scale_type(its.compute) == CUDA_R_64F;
  bool const sums_halves = scale_type(its.compute) == CUDA_R_16F;
  bool const are_inputs_right = sums_doubles  ? its.a.type == CUDA_R_64F
                                : sums_halves ? its.a.type == CUDA_R_16F
                                              : is_known(its.a.type) && its.a.type != CUDA_R_64F;
  bool const is_output_right = its.c.type == its.a.type || (its.c.type == CUDA_R_32F && !sums_doubles && !sums_halves);
  if (its.a.type != its.b.type || !are_inputs_right || !is_output_right || its.d.type != its.c.type)
    fail_unsupported(fmt::format("a product of the types {} (A), {} (B) and {} (C) of cudaDataType, computed as {},",
                                 static_cast<int>(its.a.type), static_cast<int>(its.b.type),
                                 static_cast<int>(its.c.type), static_cast<int>(its.compute)));
}

}  // namespace

void check_parameters(Gemm const& its) {
  check_operation("transa", its.op_a);
  check_operation("transb", its.op_b);
  if (its.m < 0 || its.n < 0 || its.k < 0 || its.batches < 0)
    fail_invalid(fmt::format("a size is negative: m {}, n {}, k {}, {} products", its.m, its.n, its.k, its.batches));
  check_leading_dimension("lda", its.a.ld, its.op_a == CUBLAS_OP_N ? its.m : its.k);
  check_leading_dimension("ldb", its.b.ld, its.op_b == CUBLAS_OP_N ? its.k : its.n);
  check_leading_dimension("ldc", its.c.ld, its.m);
  check_leading_dimension("ldd", its.d.ld, its.m);
  check_types(its);
}

cudaDataType scale_type(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return CUDA_R_64F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32: return CUDA_R_32F;
    default: fail_unsupported(fmt::format("cublasComputeType_t {}", static_cast<int>(compute)));
  }
}

void gemm(Call const& call, Gemm const& its, Scalar const& alpha, Scalar const& beta) {
  check_parameters(its);
  if (its.m == 0 || its.n == 0 || its.batches == 0) return;
  call.enqueue([its, alpha, beta](Access& access) {
    double const by = alpha.value(access);
    double const plus = beta.value(access);
    Products const a(access, its, its.a);
    Products const b(access, its, its.b);
    Products const c(access, its, its.c);
    Products const d(access, its, its.d);
    for (std::int64_t i = 0; i < its.batches; ++i) {
      Pointers const pointers{a[i], b[i], c[i], d[i]};
      if (scale_type(its.compute) == CUDA_R_64F)
        multiply<double>(access, its, pointers, by, plus);
      else
        multiply<float>(access, its, pointers, static_cast<float>(by), static_cast<float>(plus));
    }
  });
}

}  // namespace cuda_cpu::cublas
