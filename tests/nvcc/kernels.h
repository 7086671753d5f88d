// work(): defined by the CUDA source.
#pragma once

namespace gpu {

void work();

}  // namespace gpu
