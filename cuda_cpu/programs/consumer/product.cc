#include <cublas_v2.h>
#include <cuda_runtime.h>

// Returns the inner product of two vectors of the host, computed by cuBLAS; -1 if a call fails.
double inner_product(double const* x, double const* y, int n) {
  cublasHandle_t handle = nullptr;
  double* memory = nullptr;
  double result = -1;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return -1;
  bool const is_done =
      cudaMalloc(reinterpret_cast<void**>(&memory), 2 * sizeof(double) * static_cast<unsigned>(n)) == cudaSuccess &&
      cublasSetVector(n, sizeof(double), x, 1, memory, 1) == CUBLAS_STATUS_SUCCESS &&
      cublasSetVector(n, sizeof(double), y, 1, memory + n, 1) == CUBLAS_STATUS_SUCCESS &&
      cublasDdot(handle, n, memory, 1, memory + n, 1, &result) == CUBLAS_STATUS_SUCCESS;
  cudaFree(memory);
  cublasDestroy(handle);
  return is_done ? result : -1;
}
