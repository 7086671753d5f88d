// How CompileCache keeps a CompiledKernel in a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda::internal {

/// The kernel as bytes that end with a checksum.
std::string to_bytes(CompiledKernel const& kernel);
/// The inverse; nothing unless the bytes are exactly those of to_bytes().
std::optional<CompiledKernel> from_bytes(std::string_view bytes);

/// Nothing if there is no such file, or if it is damaged.
std::optional<CompiledKernel> read_kernel(std::string const& path);

/// Writes a temporary file and renames it, so that other processes see the complete file or none. Creates the folder.
/// Returns what failed; empty on success.
std::string write_kernel(std::string const& folder, std::string const& name, CompiledKernel const& kernel);

}  // namespace tracing::inline v1::cuda::internal
