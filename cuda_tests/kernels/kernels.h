// Declares the kernels that the tests launch.
#pragma once

#include "cuda_tests/runtime/kernel.h"

namespace cuda_tests {

inline constexpr unsigned kSaxpyThreads = 256;
inline constexpr unsigned kMatmulTile = 16;
inline constexpr unsigned kHistogramThreads = 256;
inline constexpr unsigned kTransposeTile = 32;
inline constexpr unsigned kIdentityLine = 16;  // elements copied by a thread

Kernel saxpy_kernel();
Kernel matmul_kernel(FloatKind kind);
Kernel block_sum_kernel(unsigned threads = 256);
Kernel scan_kernel(unsigned threads = 256);
Kernel histogram_kernel();
Kernel transpose_kernel();
Kernel softmax_kernel(unsigned threads = 128);
/// The identity as CubeCL has it: blocks of 16 x 16 threads, lines of 16 half-precision values.
Kernel identity_kernel();
/// Returns a kernel of faults.cu by name.
Kernel faults_kernel(char const* entry, unsigned threads = 1);

}  // namespace cuda_tests
