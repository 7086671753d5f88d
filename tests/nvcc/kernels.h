// Declares work(), which the CUDA source defines.
#pragma once

namespace gpu {

void work();

}  // namespace gpu
