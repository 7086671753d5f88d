// A shared library with kernels: nothing of CUDA is in its interface.
#pragma once

namespace library {

/// y = a * x + y for vectors of the host.
void saxpy(float a, float const* x, float* y, int count);

/// How many calls of saxpy() there were, as the device counted them.
int calls();

}  // namespace library
