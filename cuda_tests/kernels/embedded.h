// Declares the kernels that a program carries in machine code, for machines without NVRTC.
#pragma once

#include <string_view>

namespace cuda_tests {

/// Machine code for all architectures that the toolkit knew, as cuModuleLoadData takes it; empty where the program was not
/// built to carry it. `file` is that of the source: `saxpy.cu`.
std::string_view embedded_module(std::string_view file) noexcept;

/// What cuModuleGetFunction calls it: the C name itself, or the one that the compiler makes of `matmul<float,16>`.
std::string_view embedded_entry(std::string_view entry) noexcept;

}  // namespace cuda_tests
