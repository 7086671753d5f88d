// Declares a kernel template, an inline kernel and a helper, which both units of this program use.
#pragma once

template <class T, int kFactor>
__global__ void scale(T* values, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= kFactor;
}

inline __global__ void negate(int* values, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = -values[i];
}

/// Calls a function of the device with each index.
template <class Function>
__global__ void for_each_index(int count, Function function) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) function(i);
}

/// Runs the kernels in the other unit: adds 1000 and negates.
void run_other_unit(int* values, int count);
/// Returns the value of the other unit's own `__device__ int own`.
int own_of_other_unit();
