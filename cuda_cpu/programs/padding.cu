// Copies of objects with bytes that mean nothing: empty members and padding. Nobody writes these bytes, and the checks must
// not report that they are copied.
#include "check.h"

namespace {

constexpr int kCount = 32;

struct Nothing {};

struct Entry {
  short x, y, z;
  Nothing value;
};

// A byte of padding follows each flag.
struct Flags {
  unsigned char first;
  short second;
  unsigned char third;
};

template <class Key, class Value>
struct Pair {
  Key key;
  Value value;
};

__device__ void fill(Entry& entry, int i) {
  entry.x = static_cast<short>(i);
  entry.y = entry.z = static_cast<short>(i + 1);
}
__device__ void fill(Flags& flags, int i) {
  flags.first = static_cast<unsigned char>(i);
  flags.second = static_cast<short>(i + 1);
  flags.third = static_cast<unsigned char>(i + 2);
}
__device__ void fill(Pair<unsigned char, Nothing>& pair, int i) { pair.key = static_cast<unsigned char>(i); }

__device__ int sum_of(Entry const& entry) { return entry.x + entry.y + entry.z; }
__device__ int sum_of(Flags const& flags) { return flags.first + flags.second + flags.third; }
__device__ int sum_of(Pair<unsigned char, Nothing> const& pair) { return pair.key; }

template <class T>
__global__ void fill_all(T* to) {
  fill(to[threadIdx.x], static_cast<int>(threadIdx.x));
}
// Through shared memory, and between threads.
template <class T>
__global__ void reverse(T const* from, T* to) {
  __shared__ T all[kCount];
  all[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = all[kCount - 1 - threadIdx.x];
}
template <class T>
__global__ void add_up(T const* from, int* sums) {
  sums[threadIdx.x] = sum_of(from[threadIdx.x]);
}

template <class T, class Expected>
void test(Expected const& expected) {
  T *filled, *reversed;
  int* sums;
  CUDA(cudaMalloc(&filled, kCount * sizeof(T)));
  CUDA(cudaMalloc(&reversed, kCount * sizeof(T)));
  CUDA(cudaMallocManaged(&sums, kCount * sizeof(int)));
  fill_all<<<1, kCount>>>(filled);
  reverse<<<1, kCount>>>(filled, reversed);
  add_up<<<1, kCount>>>(reversed, sums);
  CUDA(cudaDeviceSynchronize());
  CHECK_EACH(sums, kCount, [&](int i) { return expected(kCount - 1 - i); });
  CUDA(cudaFree(filled));
  CUDA(cudaFree(reversed));
  CUDA(cudaFree(sums));
}

}  // namespace

int main() {
  test<Entry>([](int i) { return 3 * i + 2; });
  test<Flags>([](int i) { return 3 * i + 3; });
  test<Pair<unsigned char, Nothing>>([](int i) { return i; });
  return 0;
}
