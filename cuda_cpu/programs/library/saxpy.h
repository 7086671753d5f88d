// Declares a shared library with kernels. Its interface does not show CUDA.
#pragma once

namespace library {

/// Computes y = a * x + y for vectors of the host.
void saxpy(float a, float const* x, float* y, int count);

/// Returns how many times saxpy() was called, as the device counted them.
int calls();

}  // namespace library
