// c = a * b, row by row: a is rows x inner, b is inner x columns. A block of kTile x kTile threads computes a tile of
// c.
#include <cuda_fp16.h>

template <class T>
__device__ T zero() { return T(0); }
template <>
__device__ __half zero<__half>() { return __float2half(0.0f); }

template <class T, int kTile>
__global__ void matmul(T const* a, T const* b, T* c, int rows, int inner, int columns) {
  __shared__ T tile_a[kTile][kTile];
  __shared__ T tile_b[kTile][kTile];
  int const row = static_cast<int>(blockIdx.y) * kTile + static_cast<int>(threadIdx.y);
  int const column = static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x);
  T sum = zero<T>();
  for (int first = 0; first < inner; first += kTile) {
    int const of_a = first + static_cast<int>(threadIdx.x);
    int const of_b = first + static_cast<int>(threadIdx.y);
    tile_a[threadIdx.y][threadIdx.x] = row < rows && of_a < inner ? a[row * inner + of_a] : zero<T>();
    tile_b[threadIdx.y][threadIdx.x] = of_b < inner && column < columns ? b[of_b * columns + column] : zero<T>();
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}
