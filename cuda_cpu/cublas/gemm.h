// The product of matrices, which all forms of gemm and cublasLtMatmul() compute.
#pragma once

#include <cublas_api.h>

#include <cstdint>

#include "cuda_cpu/cublas/call.h"
#include "cuda_cpu/cublas/matrix.h"
#include "cuda_cpu/cublas/numbers.h"

namespace cuda_cpu::cublas {

/// What is done with a product before it is stored: a bias for each row is added, and then a function applied.
struct Epilogue {
  enum class Function { none, relu, gelu };
  Function function = Function::none;
  void const* bias = nullptr;
  cudaDataType bias_type = CUDA_R_32F;
};

/// d = alpha * op(a) * op(b) + beta * c, where op(a) is m x k and op(b) is k x n.
struct Gemm {
  cublasOperation_t op_a;
  cublasOperation_t op_b;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  Matrix a;
  Matrix b;
  Matrix c;
  Matrix d;
  std::int64_t batches = 1;
  bool by_pointers = false;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  Epilogue epilogue = {};
};

/// Returns the type of alpha and beta. Throws CallError for what is not supported.
cudaDataType scale_type(cublasComputeType_t compute);

/// Throws CallError for wrong parameters, or types that are not supported.
void check_parameters(Gemm const& its);

/// Checks the parameters and enqueues the work.
void gemm(Call const& call, Gemm const& its, Scalar const& alpha, Scalar const& beta);

}  // namespace cuda_cpu::cublas
