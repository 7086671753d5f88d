// For the programs of this folder: checks that end the program with a sentence.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void check_call(cudaError_t result, cudaError_t expected, char const* call, char const* file, int line) {
  if (result == expected) return;
  std::fprintf(stderr, "%s:%d: %s returned %s, not %s\n", file, line, call, cudaGetErrorName(result),
               cudaGetErrorName(expected));
  std::exit(1);
}

inline void check_condition(bool holds, char const* condition, char const* file, int line) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
  std::exit(1);
}

// The message names the index of the first difference, which a condition on a loop variable would not show.
template <class Got, class Expected>
void check_each(Got const* got, int count, Expected const& expected, char const* what, char const* file, int line) {
  for (int i = 0; i < count; ++i) {
    if (got[i] == expected(i)) continue;
    std::fprintf(stderr, "%s:%d: %s[%d] is %g, not %g\n", file, line, what, i, static_cast<double>(got[i]),
                 static_cast<double>(expected(i)));
    std::exit(1);
  }
}

#define CUDA(call) check_call((call), cudaSuccess, #call, __FILE__, __LINE__)
#define CUDA_FAILS(expected, call) check_call((call), (expected), #call, __FILE__, __LINE__)
#define CHECK(...) check_condition((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
// CHECK_EACH(array, count, expected): `expected` is called with each index.
#define CHECK_EACH(array, count, ...) check_each((array), (count), __VA_ARGS__, #array, __FILE__, __LINE__)
