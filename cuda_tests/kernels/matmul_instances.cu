// The instances of matmul for programs that embed machine code.
#include "matmul.cu"

template __global__ void matmul<__half, 16>(__half const*, __half const*, __half*, int, int, int);
template __global__ void matmul<float, 16>(float const*, float const*, float*, int, int, int);
template __global__ void matmul<double, 16>(double const*, double const*, double*, int, int, int);
