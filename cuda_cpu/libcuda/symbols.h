// The functions of the driver's library by name.
#pragma once

#include <string_view>

namespace cuda_cpu::libcuda {

/// By the name in cuda.h, such as cuMemAlloc. Null if it is not supported.
void* find_symbol(std::string_view name) noexcept;

}  // namespace cuda_cpu::libcuda
