// Textures and surfaces: linear and pitched memory, arrays in two and three dimensions, and layers.
#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

constexpr int kWidth = 48;
constexpr int kHeight = 32;

__global__ void rotate(cudaTextureObject_t image, float* out, float angle) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x;
  int const y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kWidth || y >= kHeight) return;
  float const u = (x + 0.5f) / kWidth - 0.5f;
  float const v = (y + 0.5f) / kHeight - 0.5f;
  float const cosine = cosf(angle);
  float const sine = sinf(angle);
  out[y * kWidth + x] = tex2D<float>(image, u * cosine - v * sine + 0.5f, v * cosine + u * sine + 0.5f);
}

// y = A * x for rows of 4 elements, where x is read through the texture cache: as double in two ints, and as float.
__global__ void multiply(double const* a, cudaTextureObject_t x, cudaTextureObject_t scale, double* y) {
  int const row = threadIdx.x;
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    int2 const parts = tex1Dfetch<int2>(x, i);
    sum += a[row * 4 + i] * __hiloint2double(parts.y, parts.x);
  }
  y[row] = sum * tex1Dfetch<float>(scale, row);
}

__global__ void invert(cudaSurfaceObject_t image, int width, int height) {
  int const x = threadIdx.x;
  int const y = threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 color = surf2Dread<uchar4>(image, x * sizeof(uchar4), y);
  color.x = 255 - color.x;
  color.y = 255 - color.y;
  color.z = 255 - color.z;
  surf2Dwrite(color, image, x * sizeof(uchar4), y);
}

__global__ void luminance(cudaTextureObject_t image, float* out, int width) {
  int const x = threadIdx.x;
  int const y = threadIdx.y;
  float4 const color = tex2D<float4>(image, x, y);
  out[y * width + x] = 0.25f * color.x + 0.5f * color.y + 0.25f * color.z;
}

__global__ void shift(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  int const x = threadIdx.x;
  int const y = threadIdx.y;
  int const z = threadIdx.z;
  float value;
  surf3Dread(&value, from, (x + 1) * int(sizeof(float)), y - 1, z, cudaBoundaryModeZero);
  surf3Dwrite(value, to, x * sizeof(float), y, z);
}

__global__ void sample_volume(cudaTextureObject_t volume, float* out) {
  float const t = (threadIdx.x + 0.5f) / blockDim.x;
  out[threadIdx.x] = tex3D<float>(volume, t, t, t);
}

__global__ void sample_layers(cudaTextureObject_t layers, short* out) {
  int const x = threadIdx.x;
  int const layer = blockIdx.x;
  out[layer * blockDim.x + x] =
      tex2DLayered<short>(layers, x, 1, layer) + 10 * tex2DLayeredLod<short>(layers, x, 0, 0, 0);
}

cudaArray_t make_array(cudaChannelFormatDesc const& format, cudaExtent extent, unsigned flags, void const* data,
                       std::size_t element) {
  cudaArray_t array = nullptr;
  CUDA(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(data), extent.width * element, extent.width,
                                    std::max<std::size_t>(extent.height, 1));
  copy.dstArray = array;
  copy.extent =
      make_cudaExtent(extent.width, std::max<std::size_t>(extent.height, 1), std::max<std::size_t>(extent.depth, 1));
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  return array;
}

cudaTextureObject_t make_texture(cudaArray_t array, cudaTextureDesc const& how) {
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  cudaTextureObject_t texture = 0;
  CUDA(cudaCreateTextureObject(&texture, &what, &how, nullptr));
  return texture;
}

cudaSurfaceObject_t make_surface(cudaArray_t array) {
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CUDA(cudaCreateSurfaceObject(&surface, &what));
  return surface;
}

template <class T>
T* upload(std::vector<T> const& host) {
  T* device = nullptr;
  CUDA(cudaMalloc(&device, host.size() * sizeof(T)));
  CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
std::vector<T> download(T* device, std::size_t count) {
  std::vector<T> host(count);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  CUDA(cudaFree(device));
  return host;
}

// A smooth image, so that the precision of a device's filter hardly matters.
void rotation() {
  std::vector<float> image(kWidth * kHeight);
  auto const pi = std::acos(-1.0);
  auto const value = [pi](double x, double y) {
    return std::sin(2 * pi * x / kWidth) * std::cos(2 * pi * y / kHeight);
  };
  for (int i = 0; i < kWidth * kHeight; ++i) image[i] = static_cast<float>(value(i % kWidth, i / kWidth));
  cudaArray_t const array =
      make_array(cudaCreateChannelDesc<float>(), make_cudaExtent(kWidth, kHeight, 0), 0, image.data(), sizeof(float));
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  how.normalizedCoords = 1;
  cudaTextureObject_t const texture = make_texture(array, how);
  float* out = upload(image);
  float const angle = 0.5f;
  rotate<<<dim3(kWidth / 16, kHeight / 16), dim3(16, 16)>>>(texture, out, angle);
  auto const rotated = download(out, image.size());
  for (int i = 0; i < kWidth * kHeight; ++i) {
    double const u = (i % kWidth + 0.5) / kWidth - 0.5;
    double const v = (i / kWidth + 0.5) / kHeight - 0.5;
    double const x = (u * std::cos(angle) - v * std::sin(angle) + 0.5) * kWidth - 0.5;
    double const y = (v * std::cos(angle) + u * std::sin(angle) + 0.5) * kHeight - 0.5;
    CHECK(std::fabs(rotated[i] - value(x, y)) < 0.012);
  }
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaFreeArray(array));
}

void linear_memory() {
  std::vector<double> const a{1, 2, 3, 4, 0.5, -1, 7, 0, 9, 8, -7, 6, 0, 0, 0, 1};
  std::vector<double> const x{1.5, -2, 0x1p40, 4};
  std::vector<float> const scale{1, 2, -4};  // the fourth row reads outside, which gives zero
  double* const a_on_device = upload(a);
  double* const x_on_device = upload(x);
  float* const scale_on_device = upload(scale);
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeLinear;
  what.res.linear.devPtr = x_on_device;
  what.res.linear.desc = cudaCreateChannelDesc<int2>();
  what.res.linear.sizeInBytes = x.size() * sizeof(double);
  cudaTextureDesc const how{};
  cudaTextureObject_t texture_of_x = 0;
  CUDA(cudaCreateTextureObject(&texture_of_x, &what, &how, nullptr));
  what.res.linear.devPtr = scale_on_device;
  what.res.linear.desc = cudaCreateChannelDesc<float>();
  what.res.linear.sizeInBytes = scale.size() * sizeof(float);
  cudaTextureObject_t texture_of_scale = 0;
  CUDA(cudaCreateTextureObject(&texture_of_scale, &what, &how, nullptr));
  double* const y_on_device = upload(x);
  multiply<<<1, 4>>>(a_on_device, texture_of_x, texture_of_scale, y_on_device);
  auto const y = download(y_on_device, 4);
  for (int row = 0; row < 4; ++row) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += a[row * 4 + i] * x[i];
    CHECK(y[row] == (row < 3 ? sum * scale[row] : 0));
  }
  cudaResourceDesc is{};
  CUDA(cudaGetTextureObjectResourceDesc(&is, texture_of_x));
  CHECK(is.resType == cudaResourceTypeLinear && is.res.linear.devPtr == x_on_device && is.res.linear.desc.y == 32 &&
        is.res.linear.desc.f == cudaChannelFormatKindSigned && is.res.linear.sizeInBytes == x.size() * sizeof(double));
  CUDA(cudaDestroyTextureObject(texture_of_x));
  CUDA(cudaDestroyTextureObject(texture_of_scale));
  CUDA(cudaFree(a_on_device));
  CUDA(cudaFree(x_on_device));
  CUDA(cudaFree(scale_on_device));
}

// A surface changes the array that a texture then reads.
void colors() {
  constexpr int kSide = 12;
  std::vector<uchar4> image(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) image[i] = make_uchar4(i, 2 * i % 256, 255 - i, 7);
  cudaArray_t const array = make_array(cudaCreateChannelDesc<uchar4>(), make_cudaExtent(kSide, kSide, 0),
                                       cudaArraySurfaceLoadStore, image.data(), sizeof(uchar4));
  cudaSurfaceObject_t const surface = make_surface(array);
  invert<<<1, dim3(16, 16)>>>(surface, kSide, kSide);
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaDestroySurfaceObject(surface));
  cudaTextureDesc how{};
  how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t const texture = make_texture(array, how);
  float* const out = upload(std::vector<float>(kSide * kSide));
  luminance<<<1, dim3(kSide, kSide)>>>(texture, out, kSide);
  auto const brightness = download(out, kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) {
    double const expected = (0.25 * (255 - image[i].x) + 0.5 * (255 - image[i].y) + 0.25 * (255 - image[i].z)) / 255;
    CHECK(std::fabs(brightness[i] - expected) < 1e-6);
  }
  cudaTextureDesc is{};
  CUDA(cudaGetTextureObjectTextureDesc(&is, texture));
  CHECK(is.readMode == cudaReadModeNormalizedFloat && is.normalizedCoords == 0 && is.filterMode == cudaFilterModePoint);
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaFreeArray(array));
}

void pitched_memory() {
  uchar4* memory = nullptr;
  std::size_t pitch = 0;
  CUDA(cudaMallocPitch(&memory, &pitch, 5 * sizeof(uchar4), 3));
  std::vector<uchar4> host(15, make_uchar4(255, 0, 255, 0));
  host[7] = make_uchar4(0, 255, 0, 0);
  CUDA(cudaMemcpy2D(memory, pitch, host.data(), 5 * sizeof(uchar4), 5 * sizeof(uchar4), 3, cudaMemcpyHostToDevice));
  cudaResourceDesc what{};
  what.resType = cudaResourceTypePitch2D;
  what.res.pitch2D.devPtr = memory;
  what.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  what.res.pitch2D.width = 5;
  what.res.pitch2D.height = 3;
  what.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc how{};
  how.readMode = cudaReadModeNormalizedFloat;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
  how.borderColor[0] = 4;
  cudaTextureObject_t texture = 0;
  CUDA(cudaCreateTextureObject(&texture, &what, &how, nullptr));
  float* const out = upload(std::vector<float>(24));
  luminance<<<1, dim3(6, 4)>>>(texture, out, 6);
  auto const is = download(out, 24);
  CHECK_EACH(is.data(), 24, [](int i) { return i % 6 == 5 || i >= 18 ? 1.0f : 0.5f; });
  CUDA(cudaDestroyTextureObject(texture));

  what.res.pitch2D.pitchInBytes = 16;  // less than a row
  CUDA_FAILS(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, &what, &how, nullptr));
  what.res.pitch2D.pitchInBytes = pitch;
  how.readMode = cudaReadModeElementType;
  how.filterMode = cudaFilterModeLinear;
  cudaError_t const result = cudaCreateTextureObject(&texture, &what, &how, nullptr);
  CHECK(result == cudaErrorInvalidFilterSetting || result == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == result);
  CUDA(cudaFree(memory));
}

void volumes() {
  constexpr int kSide = 8;
  std::vector<float> values(kSide * kSide * kSide);
  for (int i = 0; i < static_cast<int>(values.size()); ++i)
    values[i] = i % kSide + i / kSide % kSide * 10 + i / (kSide * kSide) * 100;
  cudaExtent const extent = make_cudaExtent(kSide, kSide, kSide);
  auto const format = cudaCreateChannelDesc<float>();
  cudaArray_t const from = make_array(format, extent, cudaArraySurfaceLoadStore, values.data(), sizeof(float));
  cudaArray_t const to = make_array(format, extent, cudaArraySurfaceLoadStore, values.data(), sizeof(float));
  cudaTextureDesc how{};
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.normalizedCoords = 1;
  cudaTextureObject_t const volume = make_texture(from, how);
  float* const out = upload(std::vector<float>(32));
  sample_volume<<<1, 32>>>(volume, out);
  auto const diagonal = download(out, 32);
  for (int i = 0; i < 32; ++i) {
    double const at = std::fmin(std::fmax((i + 0.5) / 32 * kSide - 0.5, 0), kSide - 1);
    CHECK(std::fabs(diagonal[i] - 111 * at) < 1e-3);
  }
  CUDA(cudaDestroyTextureObject(volume));

  cudaSurfaceObject_t const source = make_surface(from);
  cudaSurfaceObject_t const target = make_surface(to);
  shift<<<1, dim3(kSide, kSide, kSide)>>>(source, target);
  CUDA(cudaGetLastError());
  std::vector<float> shifted(values.size());
  cudaMemcpy3DParms copy{};
  copy.srcArray = to;
  copy.dstPtr = make_cudaPitchedPtr(shifted.data(), kSide * sizeof(float), kSide, kSide);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&copy));
  CHECK_EACH(shifted.data(), static_cast<int>(shifted.size()), [&](int i) {
    bool const is_outside = i % kSide == kSide - 1 || i / kSide % kSide == 0;
    return is_outside ? 0 : values[i + 1 - kSide];
  });
  CUDA(cudaDestroySurfaceObject(source));
  CUDA(cudaDestroySurfaceObject(target));
  CUDA(cudaFreeArray(from));
  CUDA(cudaFreeArray(to));
}

void layers() {
  std::vector<short> values(6 * 2 * 3);
  for (int i = 0; i < static_cast<int>(values.size()); ++i) values[i] = static_cast<short>(i - 7);
  cudaArray_t const array = make_array(cudaCreateChannelDesc<short>(), make_cudaExtent(6, 2, 3), cudaArrayLayered,
                                       values.data(), sizeof(short));
  cudaTextureObject_t const texture = make_texture(array, cudaTextureDesc{});
  short* const out = upload(std::vector<short>(18));
  sample_layers<<<3, 6>>>(texture, out);
  auto const is = download(out, 18);
  CHECK_EACH(is.data(), 18, [&](int i) { return values[i / 6 * 12 + 6 + i % 6] + 10 * values[i % 6]; });
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeArray;
  what.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CUDA_FAILS(cudaErrorInvalidValue, cudaCreateSurfaceObject(&surface, &what));  // not an array for surfaces
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaDestroyTextureObject(texture));
  CUDA(cudaFreeArray(array));
}

}  // namespace

int main() {
  rotation();
  linear_memory();
  colors();
  pitched_memory();
  volumes();
  layers();
}
