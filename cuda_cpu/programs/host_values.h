// Defines expressions that the device and the host compute from random operands. Both must get equal bits.
#pragma once

#include <concepts>
#include <cstring>
#include <random>

#include "check.h"

using U32 = unsigned;
using U64 = unsigned long long;

template <class To, class From>
__host__ __device__ To bits_of(From value) {
  To bits{};
  memcpy(&bits, &value, sizeof(value) < sizeof(bits) ? sizeof(value) : sizeof(bits));
  return bits;
}

// Returns the bits of a result. C++ does not define the bits of a NaN, so all NaNs are alike.
__host__ __device__ inline U64 result(float value) { return value != value ? 0x7fc00000 : bits_of<U32>(value); }
__host__ __device__ inline U64 result(double value) { return value != value ? 0x7ff8ull << 48 : bits_of<U64>(value); }
template <std::integral Integer>
__host__ __device__ U64 result(Integer value) {
  return static_cast<U64>(value);
}

// Defines <name>, which writes a result for each expression of the list, its kernel, and the texts of the expressions.
#define HOST_VALUES_STORE(...) *to++ = result(__VA_ARGS__);
#define HOST_VALUES_TEXT(...) #__VA_ARGS__,
// clang-format off
#define HOST_VALUES(name, operand, list) \
  constexpr char const* name##_texts[] = {list(HOST_VALUES_TEXT)}; \
  __host__ __device__ void name([[maybe_unused]] operand a, [[maybe_unused]] operand b, U64* to) { \
    list(HOST_VALUES_STORE) \
  } \
  __global__ void name##_kernel(operand const* operands, U64* to, int count) { \
    int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); \
    if (i < count) name(operands[2 * i], operands[2 * i + 1], to + i * sizeof(name##_texts) / sizeof(char*)); \
  }
// clang-format on

// Compares the results of the device and the host. `random` makes an operand. Names the first expression that differs.
template <std::size_t kCount, class Operand, class Random>
void compare_with_host(char const* const (&texts)[kCount], void (*kernel)(Operand const*, U64*, int),
                       void (*on_host)(Operand, Operand, U64*), Random const& random) {
  constexpr int kThreads = 1024;
  Operand* operands = nullptr;
  U64* results = nullptr;
  CUDA(cudaMallocManaged(&operands, 2 * kThreads * sizeof(Operand)));
  CUDA(cudaMallocManaged(&results, kThreads * kCount * sizeof(U64)));
  std::mt19937_64 generator(7);
  for (int i = 0; i < 2 * kThreads; ++i) operands[i] = random(generator);
  kernel<<<kThreads / 128, 128>>>(operands, results, kThreads);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) {
    U64 expected[kCount];
    on_host(operands[2 * i], operands[2 * i + 1], expected);
    for (std::size_t k = 0; k < kCount; ++k) {
      if (results[i * kCount + k] == expected[k]) continue;
      std::fprintf(stderr, "a = %#llx, b = %#llx: %s is %#llx, not %#llx\n", static_cast<U64>(operands[2 * i]),
                   static_cast<U64>(operands[2 * i + 1]), texts[k], results[i * kCount + k], expected[k]);
      std::exit(1);
    }
  }
  CUDA(cudaFree(operands));
  CUDA(cudaFree(results));
}
