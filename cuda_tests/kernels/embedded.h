// Declares kernels embedded in the program as machine code, for machines without NVRTC.
#pragma once

#include <string_view>

namespace cuda_tests {

/// Returns a fat binary for all architectures of the toolkit, or an empty view if the program embeds no kernels.
/// `file`: the source, such as `saxpy.cu`.
std::string_view embedded_module(std::string_view file) noexcept;

/// Returns the name for cuModuleGetFunction: a C name itself, or the mangled name of an instance such as
/// `matmul<float,16>`.
std::string_view embedded_entry(std::string_view entry) noexcept;

}  // namespace cuda_tests
