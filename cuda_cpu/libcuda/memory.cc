// Memory: allocation, copies and fills.
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/libcuda/libcuda.h"

using namespace cuda_cpu::libcuda;

namespace {

// Describes the copy of cuMemcpy(), which finds by the addresses whose memory it is.
CUDA_MEMCPY3D unified(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  auto const type = [](CUdeviceptr address) {
    auto const owner = cuda_cpu::cpu::pointer_info(reinterpret_cast<void const*>(address)).owner;
    return owner == cuda_cpu::cpu::MemoryOwner::unknown ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  };
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = type(to);
  copy.dstHost = reinterpret_cast<void*>(to);
  copy.dstDevice = to;
  copy.srcMemoryType = type(from);
  copy.srcHost = reinterpret_cast<void const*>(from);
  copy.srcDevice = from;
  copy.WidthInBytes = bytes;
  copy.Height = 1;
  copy.Depth = 1;
  return copy;
}

// One end of a copy of bytes in a row: an array, or memory of the host or of the device.
struct End {
  CUarray array = nullptr;
  std::size_t offset = 0;
  void const* host = nullptr;
  CUdeviceptr device = 0;

  CUmemorytype type() const noexcept {
    if (array != nullptr) return CU_MEMORYTYPE_ARRAY;
    return host != nullptr ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  }
};

CUDA_MEMCPY3D of_row(End const& to, End const& from, std::size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = to.type();
  copy.dstXInBytes = to.offset;
  copy.dstHost = const_cast<void*>(to.host);
  copy.dstDevice = to.device;
  copy.dstArray = to.array;
  copy.srcMemoryType = from.type();
  copy.srcXInBytes = from.offset;
  copy.srcHost = from.host;
  copy.srcDevice = from.device;
  copy.srcArray = from.array;
  copy.WidthInBytes = bytes;
  copy.Height = 1;
  copy.Depth = 1;
  return copy;
}

CUDA_MEMCPY3D from_2d(CUDA_MEMCPY2D const& its) {
  CUDA_MEMCPY3D copy{};
  copy.srcXInBytes = its.srcXInBytes;
  copy.srcY = its.srcY;
  copy.srcMemoryType = its.srcMemoryType;
  copy.srcHost = its.srcHost;
  copy.srcDevice = its.srcDevice;
  copy.srcArray = its.srcArray;
  copy.srcPitch = its.srcPitch == 0 ? its.WidthInBytes + its.srcXInBytes : its.srcPitch;
  copy.dstXInBytes = its.dstXInBytes;
  copy.dstY = its.dstY;
  copy.dstMemoryType = its.dstMemoryType;
  copy.dstHost = its.dstHost;
  copy.dstDevice = its.dstDevice;
  copy.dstArray = its.dstArray;
  copy.dstPitch = its.dstPitch == 0 ? its.WidthInBytes + its.dstXInBytes : its.dstPitch;
  copy.WidthInBytes = its.WidthInBytes;
  copy.Height = its.Height;
  copy.Depth = 1;
  return copy;
}

}  // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_alloc(address, bytes));
}
CUresult cuMemFree(CUdeviceptr address) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_free(address));
}
CUresult cuMemAllocPitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
  if (address == nullptr || pitch == nullptr) return CUDA_ERROR_INVALID_VALUE;
  constexpr std::size_t kPitch = 512;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cuMemAlloc(address, *pitch * height);
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_free_async(address, stream));
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_alloc_managed(address, bytes, flags));
}
CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_host_alloc(memory, bytes, flags));
}
CUresult cuMemAllocHost(void** memory, std::size_t bytes) { return cuMemHostAlloc(memory, bytes, 0); }
CUresult cuMemFreeHost(void* memory) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_free_host(memory));
}
CUresult cuMemHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_host_register(memory, bytes, flags));
}
CUresult cuMemHostUnregister(void* memory) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().mem_host_unregister(memory));
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* address, void* memory, unsigned flags) {
  return check(api().mem_host_get_device_pointer(address, memory, flags), "cuMemHostGetDevicePointer()");
}
CUresult cuMemHostGetFlags(unsigned* flags, void* memory) {
  return check(cuda_cpu::cpu::host_memory_flags(flags, memory), "cuMemHostGetFlags()");
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return check(api().mem_get_info(free, total), "cuMemGetInfo()");
}
CUresult cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  return check(api().mem_get_address_range(begin, bytes, address), "cuMemGetAddressRange()");
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  auto const info = cuda_cpu::cpu::pointer_info(reinterpret_cast<void const*>(address));
  if (value == nullptr || info.owner == cuda_cpu::cpu::MemoryOwner::unknown) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = cuda_cpu::cpu::primary_context();
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) =
          info.owner == cuda_cpu::cpu::MemoryOwner::pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *static_cast<CUdeviceptr*>(value) = address; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = info.owner == cuda_cpu::cpu::MemoryOwner::managed ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(value) = 0; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<CUdeviceptr*>(value) = info.begin; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<std::size_t*>(value) = info.bytes; return CUDA_SUCCESS;
    default: return check(CUDA_ERROR_NOT_SUPPORTED, "cuPointerGetAttribute()");
  }
}

CUresult cuMemcpyHtoD(CUdeviceptr to, void const* from, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_htod(to, from, bytes));
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_dtoh(to, from, bytes));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_dtod(to, from, bytes));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, void const* from, std::size_t bytes, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_htod_async(to, from, bytes, stream));
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_dtoh_async(to, from, bytes, stream));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_dtod_async(to, from, bytes, stream));
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d(unified(to, from, bytes)));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d_async(unified(to, from, bytes), stream));
}
CUresult cuMemcpy2D(CUDA_MEMCPY2D const* copy) {
  cuda_cpu::cpu::CallerScope const caller;
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : done(driver().memcpy_3d(from_2d(*copy)));
}
CUresult cuMemcpy2DUnaligned(CUDA_MEMCPY2D const* copy) { return cuMemcpy2D(copy); }
CUresult cuMemcpy2DAsync(CUDA_MEMCPY2D const* copy, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : done(driver().memcpy_3d_async(from_2d(*copy), stream));
}
CUresult cuMemcpy3D(CUDA_MEMCPY3D const* copy) {
  cuda_cpu::cpu::CallerScope const caller;
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : done(driver().memcpy_3d(*copy));
}
CUresult cuMemcpy3DAsync(CUDA_MEMCPY3D const* copy, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : done(driver().memcpy_3d_async(*copy, stream));
}

CUresult cuMemcpyHtoAAsync(CUarray to, std::size_t offset, void const* from, std::size_t bytes, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d_async(of_row({.array = to, .offset = offset}, {.host = from}, bytes), stream));
}
CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, void const* from, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d(of_row({.array = to, .offset = offset}, {.host = from}, bytes)));
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t offset, std::size_t bytes, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d_async(of_row({.host = to}, {.array = from, .offset = offset}, bytes), stream));
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d(of_row({.host = to}, {.array = from, .offset = offset}, bytes)));
}
CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d(of_row({.array = to, .offset = offset}, {.device = from}, bytes)));
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memcpy_3d(of_row({.device = to}, {.array = from, .offset = offset}, bytes)));
}
CUresult cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset, std::size_t bytes) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(
      driver().memcpy_3d(of_row({.array = to, .offset = to_offset}, {.array = from, .offset = from_offset}, bytes)));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream stream) {
  CUcontext const only = cuda_cpu::cpu::primary_context();
  if (to_context != only || from_context != only) return check(CUDA_ERROR_INVALID_CONTEXT, "cuMemcpyPeer()");
  return cuMemcpyDtoDAsync(to, from, bytes, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                      std::size_t bytes) {
  return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, nullptr);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d8(to, value, count));
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d8_async(to, value, count, stream));
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d32(to, value, count));
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d32_async(to, value, count, stream));
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d2d16_async(to, 2 * count, value, count, 1, stream));
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return cuMemsetD16Async(to, value, count, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                           std::size_t height, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d2d8_async(to, pitch, value, width, height, stream));
}
CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height) {
  return cuMemsetD2D8Async(to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                            std::size_t height, CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d2d16_async(to, pitch, value, width, height, stream));
}
CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height) {
  return cuMemsetD2D16Async(to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                            CUstream stream) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().memset_d2d32_async(to, pitch, value, width, height, stream));
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height) {
  return cuMemsetD2D32Async(to, pitch, value, width, height, nullptr);
}

CUresult cuArray3DCreate(CUarray* array, CUDA_ARRAY3D_DESCRIPTOR const* descriptor) {
  cuda_cpu::cpu::CallerScope const caller;
  if (descriptor == nullptr) return check(CUDA_ERROR_INVALID_VALUE, "cuArray3DCreate()");
  return done(driver().array_3d_create(array, *descriptor));
}
CUresult cuArrayCreate(CUarray* array, CUDA_ARRAY_DESCRIPTOR const* descriptor) {
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR const its{descriptor->Width,  descriptor->Height,      0,
                                    descriptor->Format, descriptor->NumChannels, 0};
  return cuArray3DCreate(array, &its);
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  cuda_cpu::cpu::Array its;
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = check(cuda_cpu::cpu::array_find(&its, array), "cuArray3DGetDescriptor()");
  if (result == CUDA_SUCCESS) *descriptor = its.descriptor;
  return result;
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR its{};
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult const result = cuArray3DGetDescriptor(&its, array);
  if (result == CUDA_SUCCESS) *descriptor = {its.Width, its.Height, its.Format, its.NumChannels};
  return result;
}
CUresult cuArrayDestroy(CUarray array) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(driver().array_destroy(array));
}

}  // extern "C"
