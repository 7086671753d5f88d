// What kernels do among themselves: atomics, shared memory of a size that the launch gives, printf().
#include <unistd.h>

#include <cstring>
#include <vector>

#include "check.h"

namespace {

__global__ void histogram(unsigned char const* data, int count, unsigned* bins) {
  __shared__ unsigned of_block[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) of_block[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&of_block[data[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], of_block[bin]);
}

__device__ double atomic_max(double* address, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits;
  while (__longlong_as_double(static_cast<long long>(old)) < value) {
    unsigned long long const assumed = old;
    old = atomicCAS(bits, assumed, static_cast<unsigned long long>(__double_as_longlong(value)));
    if (old == assumed) break;
  }
  return __longlong_as_double(static_cast<long long>(old));
}

struct Results {
  int sum;
  int low;
  int high;
  unsigned bits;
  unsigned wrapped;
  float real_sum;
  double real_max;
  unsigned long long wide_sum;
};

__global__ void every_atomic(Results* to) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&to->sum, i);
  atomicMin(&to->low, 500 - i);
  atomicMax(&to->high, i - 3);
  atomicOr(&to->bits, 1u << (i % 32));
  atomicAnd(&to->bits, ~2u | (i % 2 << 1));
  atomicInc(&to->wrapped, 99);
  atomicAdd(&to->real_sum, 0.5f);
  atomic_max(&to->real_max, i * 0.25);
  atomicAdd(&to->wide_sum, 1ull << 32);
}

// Reverses each block's part in shared memory.
__global__ void reverse(int* values) {
  extern __shared__ int part[];
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = values[i];
  __syncthreads();
  values[i] = part[blockDim.x - 1 - threadIdx.x];
}

__global__ void last_of_much(int* to, int count) {
  extern __shared__ int part[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) part[i] = 2 * i;
  __syncthreads();
  if (threadIdx.x == 0) *to = part[count - 1];
}

// The block that ends last adds what all blocks wrote.
__global__ void sum_by_last_block(int const* values, int volatile* of_blocks, int* sum, unsigned* done) {
  __shared__ int part;
  __shared__ bool is_last;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, values[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    of_blocks[blockIdx.x] = part;
    __threadfence();
    is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  __threadfence();
  *sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += of_blocks[i];
}

__global__ void print(char const* word, double number) {
  if (threadIdx.x == 0)
    printf("%s from thread (%d, %d): %.3f %5u|%-5d|%llx %c%%\n", "hello", blockIdx.x, threadIdx.x, number, 42u, -7,
           1ull << 40, *word);
}

void histograms() {
  std::vector<unsigned char> data(20000);
  std::vector<unsigned> expected(256);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<unsigned char>(i * i / 7);
    ++expected[data[i]];
  }
  unsigned char* on_device = nullptr;
  unsigned* bins = nullptr;
  CUDA(cudaMalloc(&on_device, data.size()));
  CUDA(cudaMalloc(&bins, 256 * sizeof(unsigned)));
  CUDA(cudaMemcpy(on_device, data.data(), data.size(), cudaMemcpyHostToDevice));
  CUDA(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
  histogram<<<8, 128>>>(on_device, static_cast<int>(data.size()), bins);
  std::vector<unsigned> result(256);
  CUDA(cudaMemcpy(result.data(), bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK_EACH(result.data(), 256, [&](int i) { return expected[i]; });
  CUDA(cudaFree(on_device));
  CUDA(cudaFree(bins));
}

void atomics() {
  Results* device = nullptr;
  Results result{0, 1 << 30, -(1 << 30), 0, 0, 0, -1, 0};
  CUDA(cudaMalloc(&device, sizeof(Results)));
  CUDA(cudaMemcpy(device, &result, sizeof(Results), cudaMemcpyHostToDevice));
  every_atomic<<<4, 256>>>(device);
  CUDA(cudaMemcpy(&result, device, sizeof(Results), cudaMemcpyDeviceToHost));
  CUDA(cudaFree(device));
  CHECK(result.sum == 1024 * 1023 / 2);
  CHECK(result.low == 500 - 1023);
  CHECK(result.high == 1020);
  CHECK((result.bits | 2u) == ~0u);  // bit 1 depends on the order
  CHECK(result.wrapped == 1024 % 100);
  CHECK(result.real_sum == 512);
  CHECK(result.real_max == 1023 * 0.25);
  CHECK(result.wide_sum == 1024ull << 32);
}

void shared_memory_of_the_launch() {
  constexpr int kBlocks = 3;
  constexpr int kThreads = 100;
  int host[kBlocks * kThreads];
  for (int i = 0; i < kBlocks * kThreads; ++i) host[i] = i;
  int* device = nullptr;
  CUDA(cudaMalloc(&device, sizeof(host)));
  CUDA(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
  reverse<<<kBlocks, kThreads, kThreads * sizeof(int)>>>(device);
  CUDA(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  CHECK_EACH(host, kBlocks * kThreads, [](int i) { return i / kThreads * kThreads + kThreads - 1 - i % kThreads; });

  // More than 48 KiB must be asked for.
  int const bytes = 60 * 1024;
  last_of_much<<<1, 128, bytes>>>(device, bytes / 4);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaFuncSetAttribute(last_of_much, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  last_of_much<<<1, 128, bytes>>>(device, bytes / 4);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(host, device, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(host[0] == 2 * (bytes / 4 - 1));
  CUDA(cudaFree(device));
}

void blocks_that_meet() {
  constexpr int kBlocks = 20;
  constexpr int kThreads = 64;
  int* values = nullptr;
  int* of_blocks = nullptr;
  int* sum = nullptr;
  unsigned* done = nullptr;
  CUDA(cudaMallocManaged(&values, kBlocks * kThreads * sizeof(int)));
  CUDA(cudaMallocManaged(&of_blocks, kBlocks * sizeof(int)));
  CUDA(cudaMallocManaged(&sum, sizeof(int)));
  CUDA(cudaMallocManaged(&done, sizeof(unsigned)));
  for (int i = 0; i < kBlocks * kThreads; ++i) values[i] = i;
  *done = 0;
  for (int round = 0; round < 3; ++round) {
    *sum = -1;
    sum_by_last_block<<<kBlocks, kThreads>>>(values, of_blocks, sum, done);
    CUDA(cudaDeviceSynchronize());
    CHECK(*sum == kBlocks * kThreads * (kBlocks * kThreads - 1) / 2 && *done == 0);
  }
  CUDA(cudaFree(values));
  CUDA(cudaFree(of_blocks));
  CUDA(cudaFree(sum));
  CUDA(cudaFree(done));
}

void printing() {
  char* word = nullptr;
  CUDA(cudaMallocManaged(&word, 1));
  *word = 'x';
  // stdout is a file for the time of the launch.
  std::fflush(stdout);
  std::FILE* const file = std::tmpfile();
  CHECK(file != nullptr);
  int const original = dup(1);
  dup2(fileno(file), 1);
  print<<<2, 2>>>(word, 1.5);
  cudaError_t const result = cudaDeviceSynchronize();
  std::fflush(stdout);
  dup2(original, 1);
  close(original);
  CUDA(result);
  std::rewind(file);
  char text[512] = {};
  CHECK(std::fread(text, 1, sizeof(text) - 1, file) > 0);
  std::fclose(file);
  CHECK(std::strstr(text, "hello from thread (0, 0): 1.500    42|-7   |10000000000 x%\n") != nullptr);
  CHECK(std::strstr(text, "hello from thread (1, 0): 1.500    42|-7   |10000000000 x%\n") != nullptr);
  CUDA(cudaFree(word));
}

}  // namespace

int main() {
  histograms();
  atomics();
  shared_memory_of_the_launch();
  blocks_that_meet();
  printing();
}
