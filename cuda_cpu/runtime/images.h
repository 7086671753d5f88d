// Texture and surface objects as the libraries for the runtime and for the driver make them: each call is a span, and a
// failure is an event.
#pragma once

#include <cuda.h>

namespace cuda_cpu::runtime {

CUresult create_texture(CUtexObject* out, CUDA_RESOURCE_DESC const* resource, CUDA_TEXTURE_DESC const* texture,
                        CUDA_RESOURCE_VIEW_DESC const* view);
CUresult destroy_texture(CUtexObject texture);
CUresult create_surface(CUsurfObject* out, CUDA_RESOURCE_DESC const* resource);
CUresult destroy_surface(CUsurfObject surface);

}  // namespace cuda_cpu::runtime
