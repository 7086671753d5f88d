// Matrices in memory of the device: what a call checks of them, and their elements as matrices of Eigen.
#pragma once

#include <cublas_api.h>
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <utility>

#include "cuda_cpu/cublas/call.h"
#include "cuda_cpu/cublas/numbers.h"

namespace cuda_cpu::cublas {

/// A matrix, or one for each product of a batch. Columns are `ld` elements apart.
struct Matrix {
  char const* name;
  void const* memory;  // if Gemm::by_pointers: pointers in memory of the device
  cudaDataType type;
  std::int64_t ld;
  std::int64_t batch_stride = 0;  // in elements
};

inline void check_operation(char const* name, cublasOperation_t operation) {
  if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T && operation != CUBLAS_OP_C)
    fail_invalid(fmt::format("{} is {}, which is none of CUBLAS_OP_N, _T and _C", name, static_cast<int>(operation)));
}

/// Throws CallError if a matrix with so many rows cannot have this leading dimension.
inline void check_leading_dimension(char const* name, std::int64_t ld, std::int64_t rows) {
  if (ld < std::max<std::int64_t>(rows, 1))
    fail_invalid(fmt::format("{} is {}; the matrix has {} rows, so at least {} is needed", name, ld, rows,
                             std::max<std::int64_t>(rows, 1)));
}

/// S is the type that is computed with: double, or float also for elements of 16 bits.
template <class S>
using Dense = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Stored = Eigen::Map<T, 0, Eigen::OuterStride<>>;

/// Returns a copy of op(matrix), which is rows x columns. `memory`: where the matrix is.
template <class S>
Dense<S> load(Access& access, Matrix const& its, void const* memory, cublasOperation_t operation, std::int64_t rows,
              std::int64_t columns) {
  bool const is_transposed = operation != CUBLAS_OP_N;
  if (is_transposed) std::swap(rows, columns);
  void const* const begin = access.read({its.name, memory, size_of(its.type), rows, columns, its.ld});
  return with_type(its.type, [&](auto number) -> Dense<S> {
    using T = decltype(number);
    Stored<Dense<T> const> const stored(static_cast<T const*>(begin), rows, columns, Eigen::OuterStride<>(its.ld));
    if (is_transposed) return stored.transpose().template cast<S>();
    return stored.template cast<S>();
  });
}

/// Stores values in the matrix at `memory`.
template <class S>
void store(Access& access, Matrix const& its, void const* memory, Dense<S> const& values) {
  void* const begin = access.write({its.name, memory, size_of(its.type), values.rows(), values.cols(), its.ld});
  with_type(its.type, [&](auto number) {
    using T = decltype(number);
    Stored<Dense<T>>(static_cast<T*>(begin), values.rows(), values.cols(), Eigen::OuterStride<>(its.ld)) =
        values.template cast<T>();
  });
}

}  // namespace cuda_cpu::cublas
