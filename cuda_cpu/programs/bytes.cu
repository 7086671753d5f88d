// Registers of one byte, by which CUB loads and stores types of one byte, and which types of four bits use.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/unique.h>

#include <cstdint>
#include <vector>

#include "check.h"

namespace {

constexpr int kThreads = 64;

// Loads and stores a byte by a register of one byte, as cub::ThreadLoad() and cub::ThreadStore() do.
__global__ void copy_plus_one(std::uint8_t const* from, std::int8_t* to, int* as_signed) {
  unsigned short byte;
  asm volatile("{ .reg .u8 datum; ld.global.u8 datum, [%1]; cvt.u16.u8 %0, datum; }"
               : "=h"(byte)
               : "l"(from + threadIdx.x));
  short const next = static_cast<short>(byte + 1);
  asm volatile("{ .reg .s8 datum; cvt.s8.s16 datum, %1; st.global.s8 [%0], datum; }" ::"l"(to + threadIdx.x), "h"(next)
               : "memory");
  asm volatile("{ .reg .s8 datum; ld.relaxed.gpu.global.s8 datum, [%1]; cvt.s32.s8 %0, datum; }"
               : "=r"(as_signed[threadIdx.x])
               : "l"(to + threadIdx.x));
}

// Packs bytes into words and takes them apart, as the conversions of cuda_fp4.hpp do.
__global__ void reverse_bytes(unsigned const* from, unsigned* to) {
  asm("{ .reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, %1; mov.b32 %0, {d, c, b, a}; }"
      : "=r"(to[threadIdx.x])
      : "r"(from[threadIdx.x]));
}

void byte_registers() {
  std::uint8_t* from;
  std::int8_t* to;
  int* as_signed;
  unsigned* words;
  CUDA(cudaMallocManaged(&from, kThreads));
  CUDA(cudaMallocManaged(&to, kThreads));
  CUDA(cudaMallocManaged(&as_signed, kThreads * sizeof(int)));
  CUDA(cudaMallocManaged(&words, 2 * kThreads * sizeof(unsigned)));
  for (int i = 0; i < kThreads; ++i) from[i] = static_cast<std::uint8_t>(i * 4 + 3);
  for (int i = 0; i < kThreads; ++i) words[i] = 0x80ff0100u + static_cast<unsigned>(i);
  copy_plus_one<<<1, kThreads>>>(from, to, as_signed);
  reverse_bytes<<<1, kThreads>>>(words, words + kThreads);
  CUDA(cudaDeviceSynchronize());
  auto const expected = [](int i) { return static_cast<std::int8_t>(static_cast<std::uint8_t>(i * 4 + 4)); };
  CHECK_EACH(to, kThreads, expected);
  CHECK_EACH(as_signed, kThreads, expected);
  CHECK_EACH(words + kThreads, kThreads, [](int i) { return 0x0001ff80u + (static_cast<unsigned>(i) << 24); });
  CUDA(cudaFree(from));
  CUDA(cudaFree(to));
  CUDA(cudaFree(as_signed));
  CUDA(cudaFree(words));
}

// Algorithms whose blocks pass partial results on to the blocks after them.
void algorithms() {
  constexpr int kCount = 3000;
  std::vector<signed char> numbers(kCount);
  for (int i = 0; i < kCount; ++i) numbers[static_cast<std::size_t>(i)] = static_cast<signed char>(i / 100 - 15);
  thrust::device_vector<signed char> values(numbers.begin(), numbers.end());
  CHECK(thrust::unique(values.begin(), values.end()) - values.begin() == kCount / 100);
  CHECK(values[0] == -15 && values[29] == 14);

  values.assign(numbers.begin(), numbers.end());
  thrust::device_vector<signed char> ones(kCount, 1), keys(kCount), sums(kCount);
  auto const ends = thrust::reduce_by_key(values.begin(), values.end(), ones.begin(), keys.begin(), sums.begin());
  CHECK(ends.first - keys.begin() == kCount / 100 && ends.second - sums.begin() == kCount / 100);
  CHECK(keys[29] == 14 && sums[0] == 100 && sums[29] == 100);

  thrust::device_vector<unsigned char> counts(kCount, 1);
  thrust::inclusive_scan(counts.begin(), counts.end(), counts.begin());
  CHECK(counts[254] == 255 && counts[255] == 0 && counts[kCount - 1] == kCount % 256);
}

}  // namespace

int main() {
  byte_registers();
  algorithms();
  return 0;
}
