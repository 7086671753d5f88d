// The operations of BLAS on vectors (level 1), and those of level 2 and 3 that are no product of two matrices. Each
// checks the parameters, throws CallError, and enqueues the work. T is float or double.
#pragma once

#include <cublas_api.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "cuda_cpu/cublas/call.h"
#include "cuda_cpu/cublas/matrix.h"
#include "cuda_cpu/cublas/numbers.h"

namespace cuda_cpu::cublas {

/// The elements of a vector while work runs. T is const if they are only read.
template <class T>
struct Elements {
  T* first;
  std::int64_t increment;

  T& operator[](std::int64_t i) const noexcept { return first[i * increment]; }
};

/// A vector: `n` elements in memory that are `increment` apart; if `increment` is negative, the last one comes first.
template <class T>
struct Vector {
  char const* name;
  T* memory;
  std::int64_t n;
  std::int64_t increment;

  Block block() const { return {name, memory, sizeof(T), 1, n, std::abs(increment)}; }
  Elements<T const> read(Access& access) const { return at(static_cast<T const*>(access.read(block()))); }
  Elements<T> write(Access& access) const { return at(static_cast<T*>(access.write(block()))); }
  Elements<T> update(Access& access) const { return at(static_cast<T*>(access.update(block()))); }

 private:
  template <class U>
  Elements<U> at(U* begin) const {
    return {increment < 0 ? begin + (1 - n) * increment : begin, increment};
  }
};

template <class T>
void axpy(Call const& call, Scalar const& alpha, Vector<T const> const& x, Vector<T> const& y) {
  if (x.n <= 0) return;
  call.enqueue([=](Access& access) {
    T const by = static_cast<T>(alpha.value(access));
    if (by == 0) return;
    auto const from = x.read(access);
    auto const to = y.update(access);
    for (std::int64_t i = 0; i < x.n; ++i) to[i] += by * from[i];
  });
}

template <class T>
void scal(Call const& call, Scalar const& alpha, Vector<T> const& x) {
  if (x.n <= 0 || x.increment <= 0) return;
  call.enqueue([=](Access& access) {
    T const by = static_cast<T>(alpha.value(access));
    auto const to = x.update(access);
    for (std::int64_t i = 0; i < x.n; ++i) to[i] *= by;
  });
}

template <class T>
void copy(Call const& call, Vector<T const> const& x, Vector<T> const& y) {
  if (x.n <= 0) return;
  call.enqueue([=](Access& access) {
    auto const from = x.read(access);
    auto const to = y.write(access);
    for (std::int64_t i = 0; i < x.n; ++i) to[i] = from[i];
  });
}

template <class T>
void swap(Call const& call, Vector<T> const& x, Vector<T> const& y) {
  if (x.n <= 0) return;
  call.enqueue([=](Access& access) {
    auto const one = x.update(access);
    auto const other = y.update(access);
    for (std::int64_t i = 0; i < x.n; ++i) std::swap(one[i], other[i]);
  });
}

/// Gives the result of `reduce` to the program: in memory of the host, after a wait, or of the device.
template <class R, class Reduce>
void give_result(Call const& call, R* result, Reduce const& reduce) {
  check_pointer("result", result);
  if (call.context.pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
    call.enqueue([=](Access& access) {
      R const value = static_cast<R>(reduce(access));
      *static_cast<R*>(access.write({"result", result, sizeof(R), 1, 1, 1})) = value;
    });
  } else {
    call.run([&](Access& access) { *result = static_cast<R>(reduce(access)); });
  }
}

// Sums are of long double, so that neither the order nor an overflow of a square changes the result.

template <class T>
void dot(Call const& call, Vector<T const> const& x, Vector<T const> const& y, T* result) {
  give_result(call, result, [=](Access& access) {
    long double sum = 0;
    auto const one = x.read(access);
    auto const other = y.read(access);
    for (std::int64_t i = 0; i < x.n; ++i) sum += static_cast<long double>(one[i]) * other[i];
    return sum;
  });
}

template <class T>
void nrm2(Call const& call, Vector<T const> const& x, T* result) {
  give_result(call, result, [=](Access& access) {
    long double sum = 0;
    if (x.increment <= 0) return sum;
    auto const from = x.read(access);
    for (std::int64_t i = 0; i < x.n; ++i) sum += static_cast<long double>(from[i]) * from[i];
    return std::sqrt(sum);
  });
}

template <class T>
void asum(Call const& call, Vector<T const> const& x, T* result) {
  give_result(call, result, [=](Access& access) {
    long double sum = 0;
    if (x.increment <= 0) return sum;
    auto const from = x.read(access);
    for (std::int64_t i = 0; i < x.n; ++i) sum += std::abs(from[i]);
    return sum;
  });
}

/// Finds the first element of the largest absolute value, or of the smallest. Counts from 1; 0 for an empty vector.
template <class T, class Int>
void find_extreme(Call const& call, Vector<T const> const& x, bool is_largest, Int* result) {
  give_result(call, result, [=](Access& access) -> std::int64_t {
    if (x.n <= 0 || x.increment <= 0) return 0;
    auto const from = x.read(access);
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < x.n; ++i) {
      T const value = std::abs(from[i]);
      T const other = std::abs(from[best]);
      if (is_largest ? value > other : value < other) best = i;
    }
    return best + 1;
  });
}

inline void check_increments(std::int64_t of_x, std::int64_t of_y) {
  if (of_x == 0 || of_y == 0) fail_invalid(of_x == 0 ? "incx is 0" : "incy is 0");
}

/// y = alpha * op(a) * x + beta * y. `a` is m x n. The sizes of `x` and `y` follow from `operation`.
template <class T>
void gemv(Call const& call, cublasOperation_t operation, std::int64_t m, std::int64_t n, Scalar const& alpha,
          Matrix const& a, Vector<T const> x, Scalar const& beta, Vector<T> y) {
  check_operation("trans", operation);
  if (m < 0 || n < 0) fail_invalid(fmt::format("a size is negative: m {}, n {}", m, n));
  check_leading_dimension("lda", a.ld, m);
  check_increments(x.increment, y.increment);
  if (m == 0 || n == 0) return;
  bool const is_transposed = operation != CUBLAS_OP_N;
  x.n = is_transposed ? m : n;
  y.n = is_transposed ? n : m;
  call.enqueue([=](Access& access) {
    T const by = static_cast<T>(alpha.value(access));
    T const plus = static_cast<T>(beta.value(access));
    auto const to = plus == 0 ? y.write(access) : y.update(access);
    for (std::int64_t i = 0; i < y.n; ++i) to[i] = plus == 0 ? 0 : plus * to[i];
    if (by == 0) return;
    auto const* const values = static_cast<T const*>(access.read({a.name, a.memory, sizeof(T), m, n, a.ld}));
    auto const from = x.read(access);
    for (std::int64_t column = 0; column < n; ++column) {
      for (std::int64_t row = 0; row < m; ++row) {
        auto const [to_index, from_index] = is_transposed ? std::pair(column, row) : std::pair(row, column);
        to[to_index] += by * values[column * a.ld + row] * from[from_index];
      }
    }
  });
}

/// a = alpha * x * transposed(y) + a.
template <class T>
void ger(Call const& call, Scalar const& alpha, Vector<T const> const& x, Vector<T const> const& y, Matrix const& a) {
  if (x.n < 0 || y.n < 0) fail_invalid(fmt::format("a size is negative: m {}, n {}", x.n, y.n));
  check_increments(x.increment, y.increment);
  check_leading_dimension("lda", a.ld, x.n);
  if (x.n == 0 || y.n == 0) return;
  call.enqueue([=](Access& access) {
    T const by = static_cast<T>(alpha.value(access));
    if (by == 0) return;
    auto const of_rows = x.read(access);
    auto const of_columns = y.read(access);
    auto* const values = static_cast<T*>(access.update({a.name, a.memory, sizeof(T), x.n, y.n, a.ld}));
    for (std::int64_t j = 0; j < y.n; ++j)
      for (std::int64_t i = 0; i < x.n; ++i) values[j * a.ld + i] += by * of_rows[i] * of_columns[j];
  });
}

}  // namespace cuda_cpu::cublas
