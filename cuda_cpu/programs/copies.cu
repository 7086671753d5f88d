// Copies and fills in two and three dimensions, arrays, and variables of the device.
#include <cstring>
#include <vector>

#include "check.h"

namespace {

__constant__ float coefficients[4];
__device__ int counters[8] = {10, 11, 12, 13, 14, 15, 16, 17};
__device__ double total = 0.5;

__global__ void evaluate(float const* x, float* y, int count) {
  int const i = threadIdx.x;
  if (i < count) y[i] = ((coefficients[3] * x[i] + coefficients[2]) * x[i] + coefficients[1]) * x[i] + coefficients[0];
}

__global__ void count_up() {
  counters[threadIdx.x] += 100;
  if (threadIdx.x == 0) total *= 4;
}

__global__ void transpose(int const* from, std::size_t from_pitch, int* to, std::size_t to_pitch, int width,
                          int height) {
  int const x = threadIdx.x;
  int const y = threadIdx.y;
  if (x >= width || y >= height) return;
  auto const* const row = reinterpret_cast<int const*>(reinterpret_cast<char const*>(from) + y * from_pitch);
  auto* const column = reinterpret_cast<int*>(reinterpret_cast<char*>(to) + x * to_pitch);
  column[y] = row[x];
}

void two_dimensions() {
  constexpr int kWidth = 13;
  constexpr int kHeight = 7;
  std::vector<int> host(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) host[i] = i;
  int* from = nullptr;
  int* to = nullptr;
  std::size_t from_pitch = 0;
  std::size_t to_pitch = 0;
  CUDA(cudaMallocPitch(&from, &from_pitch, kWidth * sizeof(int), kHeight));
  CUDA(cudaMallocPitch(&to, &to_pitch, kHeight * sizeof(int), kWidth));
  CHECK(from_pitch >= kWidth * sizeof(int) && to_pitch >= kHeight * sizeof(int));
  CUDA(cudaMemcpy2D(from, from_pitch, host.data(), kWidth * sizeof(int), kWidth * sizeof(int), kHeight,
                    cudaMemcpyHostToDevice));
  transpose<<<1, dim3(16, 16)>>>(from, from_pitch, to, to_pitch, kWidth, kHeight);
  CUDA(cudaGetLastError());
  std::vector<int> transposed(kWidth * kHeight, -1);
  CUDA(cudaMemcpy2D(transposed.data(), kHeight * sizeof(int), to, to_pitch, kHeight * sizeof(int), kWidth,
                    cudaMemcpyDeviceToHost));
  CHECK_EACH(transposed.data(), kWidth * kHeight, [](int i) { return i % kHeight * kWidth + i / kHeight; });

  // A part of the rows is filled, and the rest stays.
  CUDA(cudaMemset2D(to, to_pitch, 0, 2 * sizeof(int), kWidth));
  CUDA(cudaMemcpy2D(transposed.data(), kHeight * sizeof(int), to, to_pitch, kHeight * sizeof(int), kWidth,
                    cudaMemcpyDeviceToHost));
  CHECK_EACH(transposed.data(), kWidth * kHeight,
             [](int i) { return i % kHeight < 2 ? 0 : i % kHeight * kWidth + i / kHeight; });
  CUDA(cudaFree(from));
  CUDA(cudaFree(to));
}

void three_dimensions() {
  constexpr std::size_t kX = 6;
  constexpr std::size_t kY = 5;
  constexpr std::size_t kZ = 4;
  std::vector<short> host(kX * kY * kZ);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<short>(i);
  cudaExtent const extent = make_cudaExtent(kX * sizeof(short), kY, kZ);
  cudaPitchedPtr device{};
  CUDA(cudaMalloc3D(&device, extent));
  CUDA(cudaMemset3D(device, 0x11, extent));

  // All but the first slice and the first row of each.
  cudaMemcpy3DParms in{};
  in.srcPtr = make_cudaPitchedPtr(host.data(), kX * sizeof(short), kX, kY);
  in.dstPtr = device;
  in.srcPos = in.dstPos = make_cudaPos(0, 1, 1);
  in.extent = make_cudaExtent(kX * sizeof(short), kY - 1, kZ - 1);
  in.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&in));

  std::vector<short> back(host.size(), -1);
  cudaMemcpy3DParms out{};
  out.srcPtr = device;
  out.dstPtr = make_cudaPitchedPtr(back.data(), kX * sizeof(short), kX, kY);
  out.extent = extent;
  out.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&out));
  CHECK_EACH(back.data(), static_cast<int>(back.size()), [](int i) {
    bool const was_copied = i / kX % kY >= 1 && i / (kX * kY) >= 1;
    return was_copied ? i : 0x1111;
  });
  CUDA(cudaFree(device.ptr));
}

void arrays() {
  constexpr int kWidth = 9;
  constexpr int kHeight = 3;
  cudaChannelFormatDesc const format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CUDA(cudaMallocArray(&array, &format, kWidth, kHeight));
  float host[kHeight][kWidth];
  for (int i = 0; i < kWidth * kHeight; ++i) host[i / kWidth][i % kWidth] = static_cast<float>(i) / 2;
  CUDA(cudaMemcpy2DToArray(array, 0, 0, host, sizeof(host[0]), sizeof(host[0]), kHeight, cudaMemcpyHostToDevice));
  float part[2][4] = {};
  CUDA(cudaMemcpy2DFromArray(part, sizeof(part[0]), array, 5 * sizeof(float), 1, sizeof(part[0]), 2,
                             cudaMemcpyDeviceToHost));
  CHECK_EACH(&part[0][0], 8, [](int i) { return static_cast<float>((i / 4 + 1) * kWidth + 5 + i % 4) / 2; });
  CUDA(cudaFreeArray(array));
}

void variables() {
  float const of_cubic[4] = {1, -2, 0.5f, 3};
  CUDA(cudaMemcpyToSymbol(coefficients, of_cubic, sizeof(of_cubic)));
  float const five = 5;
  CUDA(cudaMemcpyToSymbol(coefficients, &five, sizeof(five), sizeof(float)));  // an offset in bytes
  float const x[3] = {0, 1, -2};
  float* device = nullptr;
  CUDA(cudaMalloc(&device, 2 * sizeof(x)));
  CUDA(cudaMemcpy(device, x, sizeof(x), cudaMemcpyHostToDevice));
  evaluate<<<1, 32>>>(device, device + 3, 3);
  float y[3] = {};
  CUDA(cudaMemcpy(y, device + 3, sizeof(y), cudaMemcpyDeviceToHost));
  CHECK(y[0] == 1 && y[1] == 9.5f && y[2] == -31);
  CUDA(cudaFree(device));

  count_up<<<1, 8>>>();
  int on_host[3] = {};
  CUDA(cudaMemcpyFromSymbol(on_host, counters, sizeof(on_host), 2 * sizeof(int)));
  CHECK(on_host[0] == 112 && on_host[1] == 113 && on_host[2] == 114);
  double total_on_host = 0;
  CUDA(cudaMemcpyFromSymbol(&total_on_host, total, sizeof(total_on_host)));
  CHECK(total_on_host == 2);

  void* address = nullptr;
  std::size_t bytes = 0;
  CUDA(cudaGetSymbolAddress(&address, counters));
  CUDA(cudaGetSymbolSize(&bytes, counters));
  CHECK(bytes == 8 * sizeof(int));
  CUDA(cudaMemset(address, 0, bytes));
  count_up<<<1, 8>>>();
  CUDA(cudaMemcpyFromSymbol(on_host, counters, sizeof(on_host), 5 * sizeof(int)));
  CHECK(on_host[0] == 100 && on_host[1] == 100 && on_host[2] == 100);
  CUDA_FAILS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(on_host, counters, sizeof(on_host), 6 * sizeof(int)));
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

}  // namespace

int main() {
  two_dimensions();
  three_dimensions();
  arrays();
  variables();
}
