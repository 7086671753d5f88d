// Kernels embedded in the program as machine code, for machines without NVRTC.
#pragma once

#include <string_view>

namespace cuda_tests {

/// A fat binary for all architectures of the toolkit; empty if the program embeds none. `file`: the source, such as
/// `saxpy.cu`.
std::string_view embedded_module(std::string_view file) noexcept;

/// The name for cuModuleGetFunction: a C name itself, or the mangled name of an instance such as `matmul<float,16>`.
std::string_view embedded_entry(std::string_view entry) noexcept;

}  // namespace cuda_tests
