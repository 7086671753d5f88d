// Matrices of tensor cores (nvcuda::wmma), halves and bfloats, and copies to shared memory that a block waits for.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cuda/barrier>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;
namespace wmma = nvcuda::wmma;

namespace {

constexpr int kTile = 16;
constexpr int kSize = 48;

// c = a * b; a and c by rows, b by columns. Each warp computes a tile. The numbers are small integers, so sums are exact.
__global__ void multiply(half const* a, half const* b, float* c) {
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> of_a;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::col_major> of_b;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < kSize; k += kTile) {
    wmma::load_matrix_sync(of_a, a + blockIdx.y * kTile * kSize + k, kSize);
    wmma::load_matrix_sync(of_b, b + blockIdx.x * kTile * kSize + k, kSize);
    wmma::mma_sync(sum, of_a, of_b, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * kTile * kSize + blockIdx.x * kTile, sum, kSize, wmma::mem_row_major);
}

__global__ void arithmetic(float const* x, __nv_bfloat16* bfloats, half2* halves) {
  int const i = threadIdx.x;
  __nv_bfloat16 const value = __float2bfloat16(x[i]);
  bfloats[i] = __hadd(__hmul(value, __float2bfloat16(2.0f)), __float2bfloat16(1.0f));
  half2 const pair = __floats2half2_rn(x[i], -x[i]);
  halves[i] = __hfma2(pair, pair, __float2half2_rn(0.5f));
}

// A group copies to shared memory, waits, and each thread reads what another one's part was.
__global__ void copy_and_reverse(int const* from, int* to) {
  __shared__ int part[128];
  auto const block = cg::this_thread_block();
  int const first = blockIdx.x * 128;
  cg::memcpy_async(block, part, from + first, sizeof(part));
  cg::wait(block);
  to[first + threadIdx.x] = part[127 - threadIdx.x];
}

// Half of the threads write, all meet at a barrier in shared memory, and again before the next round.
__global__ void meet(int* to, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[32];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) values[threadIdx.x] = static_cast<int>(threadIdx.x) * round;
    barrier.arrive_and_wait();
    sum += values[(threadIdx.x + round) % 32];
    barrier.arrive_and_wait();
  }
  to[threadIdx.x] = sum;
}

template <class T>
T* managed(int count) {
  T* memory = nullptr;
  CUDA(cudaMallocManaged(&memory, count * sizeof(T)));
  return memory;
}

void run() {
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
}

void products() {
  half* const a = managed<half>(kSize * kSize);
  half* const b = managed<half>(kSize * kSize);
  float* const c = managed<float>(kSize * kSize);
  auto const of_a = [](int row, int k) { return (row * 7 + k * 3) % 13 - 6; };
  auto const of_b = [](int k, int column) { return (k * 5 + column * 11) % 9 - 4; };
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = __float2half(static_cast<float>(of_a(i / kSize, i % kSize)));
    b[i] = __float2half(static_cast<float>(of_b(i % kSize, i / kSize)));
  }
  multiply<<<dim3(kSize / kTile, kSize / kTile), 32>>>(a, b, c);
  run();
  CHECK_EACH(c, kSize * kSize, [&](int i) {
    int sum = 0;
    for (int k = 0; k < kSize; ++k) sum += of_a(i / kSize, k) * of_b(k, i % kSize);
    return static_cast<float>(sum);
  });
  for (void* const memory : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c)})
    CUDA(cudaFree(memory));
}

void small_floats() {
  constexpr int kCount = 32;
  float* const x = managed<float>(kCount);
  auto* const bfloats = managed<__nv_bfloat16>(kCount);
  auto* const halves = managed<half2>(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = static_cast<float>(i) / 4 - 4;
  arithmetic<<<1, kCount>>>(x, bfloats, halves);
  run();
  for (int i = 0; i < kCount; ++i) {
    CHECK(__bfloat162float(bfloats[i]) == 2 * x[i] + 1);
    CHECK(__low2float(halves[i]) == x[i] * x[i] + 0.5f && __high2float(halves[i]) == x[i] * x[i] + 0.5f);
  }
  for (void* const memory : {static_cast<void*>(x), static_cast<void*>(bfloats), static_cast<void*>(halves)})
    CUDA(cudaFree(memory));
}

void copies_and_barriers() {
  int* const from = managed<int>(512);
  int* const to = managed<int>(512);
  for (int i = 0; i < 512; ++i) from[i] = i * i;
  copy_and_reverse<<<4, 128>>>(from, to);
  run();
  CHECK_EACH(to, 512, [](int i) {
    int const source = i / 128 * 128 + 127 - i % 128;
    return source * source;
  });
  meet<<<1, 64>>>(to, 10);
  run();
  CHECK_EACH(to, 64, [](int i) {
    int sum = 0;
    for (int round = 0; round < 10; ++round) sum += (i + round) % 32 * round;
    return sum;
  });
  CUDA(cudaFree(from));
  CUDA(cudaFree(to));
}

}  // namespace

int main() {
  products();
  small_floats();
  copies_and_barriers();
}
