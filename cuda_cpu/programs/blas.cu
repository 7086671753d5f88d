// cuBLAS and cuBLASLt between kernels: in the order of a stream, in a graph, with factors and results of the device.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "check.h"

#define CUBLAS(...) CHECK((__VA_ARGS__) == CUBLAS_STATUS_SUCCESS)

constexpr int kSize = 24;

__global__ void fill(float* to, int factor) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kSize * kSize) to[i] = static_cast<float>(i * factor % 7 - 3);
}
__global__ void add_one(float* to) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < kSize * kSize) to[i] += 1;
}

float input(int i, int factor) { return static_cast<float>(i * factor % 7 - 3); }

// Returns an element of the product of what fill(a, 1) and fill(b, 3) store.
float product(int i) {
  float sum = 0;
  for (int k = 0; k < kSize; ++k) sum += input(k * kSize + i % kSize, 1) * input(i / kSize * kSize + k, 3);
  return sum;
}

struct Matrices {
  float* a = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  cudaStream_t stream = nullptr;

  Matrices() {
    for (float** its : {&a, &b, &c}) CUDA(cudaMalloc(its, kSize * kSize * sizeof(float)));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~Matrices() {
    for (float* its : {a, b, c}) CUDA(cudaFree(its));
    CUDA(cudaStreamDestroy(stream));
  }
  std::vector<float> result() const {
    std::vector<float> values(kSize * kSize);
    CUDA(cudaMemcpyAsync(values.data(), c, kSize * kSize * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    return values;
  }
};

void multiply_between_kernels(cublasHandle_t handle, Matrices const& its) {
  float const one = 1, zero = 0;
  fill<<<18, 32, 0, its.stream>>>(its.a, 1);
  fill<<<18, 32, 0, its.stream>>>(its.b, 3);
  CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &one, its.a, kSize, its.b, kSize, &zero,
                     its.c, kSize));
  add_one<<<18, 32, 0, its.stream>>>(its.c);
}

void test_order(cublasHandle_t handle) {
  Matrices const its;
  CUBLAS(cublasSetStream(handle, its.stream));
  multiply_between_kernels(handle, its);
  CHECK_EACH(its.result().data(), kSize * kSize, [](int i) { return product(i) + 1; });
}

void test_graph(cublasHandle_t handle) {
  Matrices const its;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUBLAS(cublasSetStream(handle, its.stream));
  CUDA(cudaStreamBeginCapture(its.stream, cudaStreamCaptureModeGlobal));
  multiply_between_kernels(handle, its);
  CUDA(cudaStreamEndCapture(its.stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) CUDA(cudaGraphLaunch(exec, its.stream));
  CHECK_EACH(its.result().data(), kSize * kSize, [](int i) { return product(i) + 1; });
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
}

// A result of the device is the factor of the next call.
void test_pointers_of_the_device(cublasHandle_t handle) {
  Matrices const its;
  CUBLAS(cublasSetStream(handle, its.stream));
  fill<<<18, 32, 0, its.stream>>>(its.a, 1);
  CUDA(cudaMemsetAsync(its.c, 0, kSize * kSize * sizeof(float), its.stream));
  CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  CUBLAS(cublasSasum(handle, kSize, its.a, 1, its.b));
  CUBLAS(cublasSaxpy(handle, kSize * kSize, its.b, its.a, 1, its.c, 1));
  CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  float sum = 0;
  for (int i = 0; i < kSize; ++i) sum += std::abs(input(i, 1));
  CHECK_EACH(its.result().data(), kSize * kSize, [&](int i) { return sum * input(i, 1); });
}

void test_lt(cublasHandle_t handle) {
  Matrices const its;
  float const one = 1, zero = 0;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtEpilogue_t const epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  CUBLAS(cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  CUBLAS(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  CUBLAS(cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &its.a, sizeof its.a));
  CUBLAS(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, kSize, kSize, kSize));
  fill<<<18, 32, 0, its.stream>>>(its.a, 1);
  fill<<<18, 32, 0, its.stream>>>(its.b, 3);
  // A handle of cuBLAS is one of cuBLASLt.
  CUBLAS(cublasLtMatmul(reinterpret_cast<cublasLtHandle_t>(handle), description, &one, its.a, layout, its.b, layout,
                        &zero, its.c, layout, its.c, layout, nullptr, nullptr, 0, its.stream));
  CHECK_EACH(its.result().data(), kSize * kSize, [](int i) { return std::max(product(i) + input(i % kSize, 1), 0.F); });
  CUBLAS(cublasLtMatrixLayoutDestroy(layout));
  CUBLAS(cublasLtMatmulDescDestroy(description));
}

// A mistake: B has 24 x 23 elements.
void multiply_a_short_matrix(cublasHandle_t handle) {
  Matrices const its;
  float const one = 1, zero = 0;
  float* b = nullptr;
  CUDA(cudaMalloc(&b, kSize * (kSize - 1) * sizeof(float)));
  CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &one, its.a, kSize, b, kSize, &zero, its.c,
                     kSize));
  cudaDeviceSynchronize();
  std::exit(0);
}

int main(int argc, char**) {
  cublasHandle_t handle = nullptr;
  CUBLAS(cublasCreate(&handle));
  if (argc > 1) multiply_a_short_matrix(handle);
  test_order(handle);
  test_graph(handle);
  test_pointers_of_the_device(handle);
  test_lt(handle);
  CUBLAS(cublasDestroy(handle));
}
