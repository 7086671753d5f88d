// Declares how a CompiledKernel is kept in a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda::internal {

/// The kernel as bytes, with a checksum behind them.
std::string to_bytes(CompiledKernel const& kernel);
/// Nothing where the bytes are not what to_bytes() gave, all of it.
std::optional<CompiledKernel> from_bytes(std::string_view bytes);

enum class FileState { there, missing, corrupt };
struct KernelFile {
  FileState state = FileState::missing;
  CompiledKernel kernel{};
};
KernelFile read_kernel(std::string const& path);

/// Writes the file beside its place and moves it there, so that others see all of it or nothing. Makes the folder. Returns
/// what failed; empty: nothing did.
std::string write_kernel(std::string const& folder, std::string const& name, CompiledKernel const& kernel);

}  // namespace tracing::inline v1::cuda::internal
