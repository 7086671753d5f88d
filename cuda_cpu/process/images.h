// Texture and surface objects, as both stand-ins make them: each call is a span, and a failure is an event.
#pragma once

#include <cuda.h>

namespace cuda_cpu::process {

CUresult create_texture(CUtexObject* out, CUDA_RESOURCE_DESC const* resource, CUDA_TEXTURE_DESC const* texture,
                        CUDA_RESOURCE_VIEW_DESC const* view);
CUresult destroy_texture(CUtexObject texture);
CUresult create_surface(CUsurfObject* out, CUDA_RESOURCE_DESC const* resource);
CUresult destroy_surface(CUsurfObject surface);

/// Reports the error of a call about textures or surfaces. CUDA_ERROR_NOT_SUPPORTED is also explained on stderr if no
/// subscriber gets errors. Returns `result`.
CUresult check_image_call(CUresult result, char const* call);

}  // namespace cuda_cpu::process
