// Operations of BLAS on matrices that are no products of two matrices: geam and trsm. Each checks the parameters,
// throws CallError, and enqueues the work.
#pragma once

#include <cublas_api.h>

#include <cstdint>

#include "cuda_cpu/cublas/call.h"
#include "cuda_cpu/cublas/matrix.h"
#include "cuda_cpu/cublas/numbers.h"

namespace cuda_cpu::cublas {

/// c = alpha * op(a) + beta * op(b), of m x n elements of T. `c` may be `a` or `b`.
template <class T>
void geam(Call const& call, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m, std::int64_t n,
          Scalar const& alpha, Matrix const& a, Scalar const& beta, Matrix const& b, Matrix const& c);

/// How trsm() solves, for the triangular matrix a: op(a) * x = alpha * b, or x * op(a) = alpha * b.
struct Triangle {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasOperation_t operation;
  cublasDiagType_t diagonal;
};
/// Stores x, which is m x n, in b.
template <class T>
void trsm(Call const& call, Triangle const& its, std::int64_t m, std::int64_t n, Scalar const& alpha, Matrix const& a,
          Matrix const& b);

}  // namespace cuda_cpu::cublas
