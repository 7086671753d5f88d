// Texture objects and surface objects.
#include "cuda_cpu/process/images.h"
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/libcuda/libcuda.h"
#include "cuda_cpu/process/channels.h"

using namespace cuda_cpu::libcuda;
namespace cpu = cuda_cpu::cpu;

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* out, CUDA_RESOURCE_DESC const* resource, CUDA_TEXTURE_DESC const* texture,
                           CUDA_RESOURCE_VIEW_DESC const* view) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(cuda_cpu::process::create_texture(out, resource, texture, view));
}
CUresult cuTexObjectDestroy(CUtexObject texture) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(cuda_cpu::process::destroy_texture(texture));
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject texture) {
  return check(cpu::texture_find(out, nullptr, texture), "cuTexObjectGetResourceDesc()");
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject texture) {
  return check(cpu::texture_find(nullptr, out, texture), "cuTexObjectGetTextureDesc()");
}
// No texture has a view.
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC*, CUtexObject) {
  return check(CUDA_ERROR_INVALID_VALUE, "cuTexObjectGetResourceViewDesc()");
}

CUresult cuSurfObjectCreate(CUsurfObject* out, CUDA_RESOURCE_DESC const* resource) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(cuda_cpu::process::create_surface(out, resource));
}
CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  cuda_cpu::cpu::CallerScope const caller;
  return done(cuda_cpu::process::destroy_surface(surface));
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject surface) {
  return check(cpu::surface_find(out, surface), "cuSurfObjectGetResourceDesc()");
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(std::size_t* texels, CUarray_format format, unsigned channels,
                                            CUdevice device) {
  cudaChannelFormatDesc const its = cuda_cpu::process::to_runtime(format, channels);
  return forward(cudaDeviceGetTexture1DLinearMaxWidth, texels, &its, device);
}

}  // extern "C"
