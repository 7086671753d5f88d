// Memory management: linear copies and fills.
#include "cuda_cpu/graph/copies.h"

#include <fmt/format.h>

#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/process/registry.h"
#include "cuda_cpu/ptx/source_lines.h"
#include "cuda_cpu/runtime/runtime.h"

namespace cuda_cpu::runtime {
namespace {

CUdeviceptr address(void const* pointer) noexcept { return reinterpret_cast<CUdeviceptr>(pointer); }

// The driver has no linear copy from the host to itself.
CUDA_MEMCPY3D on_host(void* to, void const* from, std::size_t bytes) noexcept {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  copy.srcHost = from;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
}

cudaError_t copy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  Direction direction{};
  if (cudaError_t const error = direction_of(kind, to, from, &direction); error != cudaSuccess) return error;
  if (bytes == 0) return cudaSuccess;
  // The legacy default stream has calls of its own, which wait. For the default stream of a thread, wait here.
  if (stream_of(nullptr) != nullptr) {
    cudaError_t const error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    return error == cudaSuccess ? to_error(driver().stream_synchronize(stream_of(nullptr))) : error;
  }
  switch (direction) {
    case Direction::host_to_device: return to_error(driver().memcpy_htod(address(to), from, bytes));
    case Direction::device_to_host: return to_error(driver().memcpy_dtoh(to, address(from), bytes));
    case Direction::device_to_device: return to_error(driver().memcpy_dtod(address(to), address(from), bytes));
    case Direction::host_to_host: return to_error(driver().memcpy_3d(on_host(to, from, bytes)));
  }
  return cudaSuccess;
}

CUresult copy_async(void* to, void const* from, std::size_t bytes, Direction direction, CUstream stream) {
  switch (direction) {
    case Direction::host_to_device: return driver().memcpy_htod_async(address(to), from, bytes, stream);
    case Direction::device_to_host: return driver().memcpy_dtoh_async(to, address(from), bytes, stream);
    case Direction::device_to_device: return driver().memcpy_dtod_async(address(to), address(from), bytes, stream);
    case Direction::host_to_host: return driver().memcpy_3d_async(on_host(to, from, bytes), stream);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

cudaError_t at_symbol(void const* symbol, std::size_t bytes, std::size_t offset, std::byte** memory) {
  Variable* const variable = registry().find_variable(symbol);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  if (offset > variable->bytes || bytes > variable->bytes - offset)
    return refuse(cudaErrorInvalidValue, fmt::format("a copy of {} bytes at byte {} of {}, which has {} bytes", bytes,
                                                     offset, ptx::demangled(variable->name), variable->bytes));
  CUdeviceptr begin = 0;
  CUresult const result = variable->find(&begin);
  *memory = reinterpret_cast<std::byte*>(begin) + offset;
  return to_error(result);
}

}  // namespace cuda_cpu::runtime

using namespace cuda_cpu::runtime;

extern "C" {

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call([&] { return copy(to, from, bytes, kind); });
}

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    Direction direction{};
    cudaError_t const error = direction_of(kind, to, from, &direction);
    if (error != cudaSuccess || bytes == 0) return error;
    return to_error(copy_async(to, from, bytes, direction, stream_of(stream)));
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call([&] {
    auto const byte = static_cast<unsigned char>(value);
    if (stream_of(nullptr) != nullptr) return driver().memset_d8_async(address(to), byte, bytes, stream_of(nullptr));
    return driver().memset_d8(address(to), byte, bytes);
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call([&] {
    return driver().memset_d8_async(address(to), static_cast<unsigned char>(value), bytes, stream_of(stream));
  });
}

cudaError_t cudaMemcpyToSymbol(void const* symbol, void const* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  return call([&] {
    std::byte* to = nullptr;
    cudaError_t const error = at_symbol(symbol, bytes, offset, &to);
    return error == cudaSuccess ? copy(to, from, bytes, kind) : error;
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, void const* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return call([&] {
    std::byte* from = nullptr;
    cudaError_t const error = at_symbol(symbol, bytes, offset, &from);
    return error == cudaSuccess ? copy(to, from, bytes, kind) : error;
  });
}

cudaError_t cudaMemcpyToSymbolAsync(void const* symbol, void const* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    std::byte* to = nullptr;
    cudaError_t const error = at_symbol(symbol, bytes, offset, &to);
    return error == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, kind, stream) : error;
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, void const* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    std::byte* from = nullptr;
    cudaError_t const error = at_symbol(symbol, bytes, offset, &from);
    return error == cudaSuccess ? cudaMemcpyAsync(to, from, bytes, kind, stream) : error;
  });
}

}  // extern "C"
