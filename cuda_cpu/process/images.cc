#define TRACE_TARGET "tracing::cuda::memory"
#include "cuda_cpu/process/images.h"

#include "cuda_cpu/cpu/cpu_driver.h"
#include "cuda_cpu/cpu/unlisted_calls.h"
#include "cuda_cpu/graph/errors.h"
#include "cuda_cpu/process/driver.h"
#include "tracing_core/emit/for_callers.h"

namespace cuda_cpu::process {
namespace {

char const* name_of(CUDA_RESOURCE_DESC const* resource) noexcept {
  if (resource == nullptr) return "none";
  switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY: return "array";
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return "mipmapped_array";
    case CU_RESOURCE_TYPE_LINEAR: return "linear";
    case CU_RESOURCE_TYPE_PITCH2D: return "pitch_2d";
  }
  return "unknown";
}

}  // namespace

CUresult check_image_call(CUresult result, char const* call) {
  if (result != CUDA_ERROR_NOT_SUPPORTED) return driver().check(result, call);
  graph::refuse(cudaErrorNotSupported, cpu_driver_last_message());
  return result;
}

CUresult create_texture(CUtexObject* out, CUDA_RESOURCE_DESC const* resource, CUDA_TEXTURE_DESC const* texture,
                        CUDA_RESOURCE_VIEW_DESC const* view) {
  tracing::Span const span = TRACE_MAKE_SPAN(trace, "texture_create", tracing::kv("resource", name_of(resource)),
                                             tracing::kv("texture", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = cpu::texture_create(out, resource, texture, view);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("texture", *out));
  return check_image_call(result, "cuTexObjectCreate()");
}

CUresult destroy_texture(CUtexObject texture) {
  TRACE_SPAN(trace, "texture_destroy", texture);
  return check_image_call(cpu::texture_destroy(texture), "cuTexObjectDestroy()");
}

CUresult create_surface(CUsurfObject* out, CUDA_RESOURCE_DESC const* resource) {
  tracing::Span const span = TRACE_MAKE_SPAN(trace, "surface_create", tracing::kv("resource", name_of(resource)),
                                             tracing::kv("surface", tracing::empty));
  auto const entered = span.enter();
  CUresult const result = cpu::surface_create(out, resource);
  if (result == CUDA_SUCCESS) span.record(tracing::kv("surface", *out));
  return check_image_call(result, "cuSurfObjectCreate()");
}

CUresult destroy_surface(CUsurfObject surface) {
  TRACE_SPAN(trace, "surface_destroy", surface);
  return check_image_call(cpu::surface_destroy(surface), "cuSurfObjectDestroy()");
}

}  // namespace cuda_cpu::process
