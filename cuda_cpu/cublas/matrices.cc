#include "cuda_cpu/cublas/matrices.h"

#include <fmt/format.h>

#include <Eigen/Dense>

#include "cuda_cpu/cublas/matrix.h"

namespace cuda_cpu::cublas {
namespace {

// Returns op(a), where what is not in the triangle is not read.
template <class T>
Dense<T> load_triangle(Access& access, Triangle const& its, Matrix const& a, std::int64_t size) {
  Dense<T> values = Dense<T>::Zero(size, size);
  bool const is_lower = its.fill == CUBLAS_FILL_MODE_LOWER;
  std::int64_t const unread = its.diagonal == CUBLAS_DIAG_UNIT ? 1 : 0;
  for (std::int64_t j = 0; j < size; ++j) {
    std::int64_t const first = is_lower ? j + unread : 0;
    std::int64_t const rows = is_lower ? size - first : j + 1 - unread;
    if (rows == 0) continue;
    auto const* const column = static_cast<T const*>(a.memory) + j * a.ld + first;
    access.read({a.name, column, sizeof(T), rows, 1, rows});
    for (std::int64_t i = 0; i < rows; ++i) values(first + i, j) = column[i];
  }
  if (its.operation != CUBLAS_OP_N) values.transposeInPlace();
  return values;
}

// Replaces x by the solution of triangle * solution = x.
template <class T>
void solve(Dense<T> const& triangle, bool is_lower, bool has_unit_diagonal, Dense<T>& x) {
  if (is_lower && has_unit_diagonal)
    triangle.template triangularView<Eigen::UnitLower>().solveInPlace(x);
  else if (is_lower)
    triangle.template triangularView<Eigen::Lower>().solveInPlace(x);
  else if (has_unit_diagonal)
    triangle.template triangularView<Eigen::UnitUpper>().solveInPlace(x);
  else
    triangle.template triangularView<Eigen::Upper>().solveInPlace(x);
}

void check_triangle(Triangle const& its) {
  if (its.side != CUBLAS_SIDE_LEFT && its.side != CUBLAS_SIDE_RIGHT)
    fail_invalid(fmt::format("side is {}, which is neither left nor right", static_cast<int>(its.side)));
  if (its.fill != CUBLAS_FILL_MODE_LOWER && its.fill != CUBLAS_FILL_MODE_UPPER)
    fail_invalid(fmt::format("uplo is {}, which is neither lower nor upper", static_cast<int>(its.fill)));
  if (its.diagonal != CUBLAS_DIAG_UNIT && its.diagonal != CUBLAS_DIAG_NON_UNIT)
    fail_invalid(fmt::format("diag is {}, which is neither unit nor not", static_cast<int>(its.diagonal)));
  check_operation("trans", its.operation);
}

void check_size(std::int64_t m, std::int64_t n) {
  if (m < 0 || n < 0) fail_invalid(fmt::format("a size is negative: m {}, n {}", m, n));
}

}  // namespace

template <class T>
void geam(Call const& call, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m, std::int64_t n,
          Scalar const& alpha, Matrix const& a, Scalar const& beta, Matrix const& b, Matrix const& c) {
  check_operation("transa", op_a);
  check_operation("transb", op_b);
  check_size(m, n);
  check_leading_dimension("lda", a.ld, op_a == CUBLAS_OP_N ? m : n);
  check_leading_dimension("ldb", b.ld, op_b == CUBLAS_OP_N ? m : n);
  check_leading_dimension("ldc", c.ld, m);
  if ((c.memory == a.memory && (op_a != CUBLAS_OP_N || a.ld != c.ld)) ||
      (c.memory == b.memory && (op_b != CUBLAS_OP_N || b.ld != c.ld)))
    fail_invalid("C is stored over a matrix that is transposed, or has another leading dimension");
  if (m == 0 || n == 0) return;
  call.enqueue([=](Access& access) {
    T const by = static_cast<T>(alpha.value(access));
    T const plus = static_cast<T>(beta.value(access));
    Dense<T> sum = Dense<T>::Zero(m, n);
    if (by != 0) sum += by * load<T>(access, a, a.memory, op_a, m, n);
    if (plus != 0) sum += plus * load<T>(access, b, b.memory, op_b, m, n);
    store<T>(access, c, c.memory, sum);
  });
}

template <class T>
void trsm(Call const& call, Triangle const& its, std::int64_t m, std::int64_t n, Scalar const& alpha, Matrix const& a,
          Matrix const& b) {
  check_triangle(its);
  check_size(m, n);
  bool const is_left = its.side == CUBLAS_SIDE_LEFT;
  check_leading_dimension("lda", a.ld, is_left ? m : n);
  check_leading_dimension("ldb", b.ld, m);
  if (m == 0 || n == 0) return;
  call.enqueue([=](Access& access) {
    T const by = static_cast<T>(alpha.value(access));
    Dense<T> x = Dense<T>::Zero(m, n);
    if (by != 0) {
      x = by * load<T>(access, b, b.memory, CUBLAS_OP_N, m, n);
      Dense<T> triangle = load_triangle<T>(access, its, a, is_left ? m : n);
      bool is_lower = (its.fill == CUBLAS_FILL_MODE_LOWER) == (its.operation == CUBLAS_OP_N);
      if (!is_left) {  // x * op(a) = b is transposed(op(a)) * transposed(x) = transposed(b)
        triangle.transposeInPlace();
        x.transposeInPlace();
        is_lower = !is_lower;
      }
      solve(triangle, is_lower, its.diagonal == CUBLAS_DIAG_UNIT, x);
      if (!is_left) x.transposeInPlace();
    }
    store<T>(access, b, b.memory, x);
  });
}

#define CUBLAS_INSTANTIATE(T)                                                                                         \
  template void geam<T>(Call const&, cublasOperation_t, cublasOperation_t, std::int64_t, std::int64_t, Scalar const&, \
                        Matrix const&, Scalar const&, Matrix const&, Matrix const&);                                  \
  template void trsm<T>(Call const&, Triangle const&, std::int64_t, std::int64_t, Scalar const&, Matrix const&,       \
                        Matrix const&);
CUBLAS_INSTANTIATE(float)
CUBLAS_INSTANTIATE(double)
#undef CUBLAS_INSTANTIATE

}  // namespace cuda_cpu::cublas
