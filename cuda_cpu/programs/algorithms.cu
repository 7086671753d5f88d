// Thrust and CUB.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.h"

namespace {

constexpr int kCount = 5000;

struct Square {
  __host__ __device__ long long operator()(long long x) const { return x * x; }
};

struct Descending {
  __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};

std::vector<int> numbers() {
  std::vector<int> its(kCount);
  std::uint32_t state = 12345;
  for (int& value : its) {
    state = state * 1664525 + 1013904223;
    value = static_cast<int>(state >> 8) - (1 << 23);
  }
  return its;
}

__global__ void scan_of_block(int const* from, int* to, int* total) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int sum = 0;
  int value = from[threadIdx.x];
  Scan(storage).ExclusiveSum(value, value, sum);
  to[threadIdx.x] = value;
  if (threadIdx.x == 0) *total = sum;
}

void thrust_algorithms() {
  std::vector<int> expected = numbers();
  thrust::device_vector<int> values(expected.begin(), expected.end());
  thrust::sort(values.begin(), values.end());
  std::sort(expected.begin(), expected.end());
  std::vector<int> result(kCount);
  thrust::copy(values.begin(), values.end(), result.begin());
  CHECK(result == expected);

  // With a function of its own: a merge sort.
  thrust::device_vector<int> many(30011);
  thrust::sequence(many.begin(), many.end());
  thrust::sort(many.begin(), many.end(), Descending());
  CHECK(many[0] == 30010 && many[1] == 30009 && many[30010] == 0);

  thrust::device_vector<int> indices(kCount);
  thrust::sequence(indices.begin(), indices.end());
  thrust::sort_by_key(values.begin(), values.end(), indices.begin(), thrust::greater<int>());
  CHECK(values[0] == expected.back() && indices[0] == kCount - 1 && indices[kCount - 1] == 0);

  long long const sum_of_squares =
      thrust::transform_reduce(thrust::counting_iterator<long long>(0), thrust::counting_iterator<long long>(kCount),
                               Square(), 0LL, thrust::plus<long long>());
  CHECK(sum_of_squares == static_cast<long long>(kCount - 1) * kCount * (2 * kCount - 1) / 6);

  thrust::device_vector<int> sums(kCount);
  thrust::inclusive_scan(indices.begin(), indices.end(), sums.begin());
  std::vector<int> indices_on_host(kCount);
  thrust::copy(indices.begin(), indices.end(), indices_on_host.begin());
  thrust::copy(sums.begin(), sums.end(), result.begin());
  std::partial_sum(indices_on_host.begin(), indices_on_host.end(), expected.begin());
  CHECK(result == expected);
}

// Blocks write where others read.
void thrust_in_place() {
  std::vector<int> expected(50000);
  for (int i = 0; i < 50000; ++i) expected[i] = i * 7919 % 10007;
  thrust::device_vector<int> values(expected.begin(), expected.end());
  thrust::sort(values.begin(), values.end());
  values.erase(thrust::unique(values.begin(), values.end()), values.end());
  thrust::inclusive_scan(values.begin(), values.end(), values.begin());
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  std::partial_sum(expected.begin(), expected.end(), expected.begin());
  std::vector<int> result(values.size());
  thrust::copy(values.begin(), values.end(), result.begin());
  CHECK(result == expected);
}

void cub_algorithms() {
  std::vector<int> const host = numbers();
  thrust::device_vector<int> values(host.begin(), host.end());
  thrust::device_vector<int> results(kCount);
  int const* const in = thrust::raw_pointer_cast(values.data());
  int* const out = thrust::raw_pointer_cast(results.data());
  void* storage = nullptr;
  std::size_t bytes = 0;
  CUDA(cub::DeviceReduce::Max(storage, bytes, in, out, kCount));
  CUDA(cudaMalloc(&storage, bytes));
  CUDA(cub::DeviceReduce::Max(storage, bytes, in, out, kCount));
  CHECK(results[0] == *std::max_element(host.begin(), host.end()));
  CUDA(cudaFree(storage));

  scan_of_block<<<1, 128>>>(in, out, out + 128);
  CUDA(cudaGetLastError());
  int sum = 0;
  for (int i = 0; i < 128; ++i) {
    CHECK(results[i] == sum);
    sum += host[i];
  }
  CHECK(results[128] == sum);
}

}  // namespace

int main() {
  thrust_algorithms();
  thrust_in_place();
  cub_algorithms();
}
