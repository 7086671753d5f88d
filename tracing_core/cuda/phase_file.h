// Declares PhaseFile, the temporary file into which NVRTC writes how long its phases took.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda::internal {

/// Reads lines such as `kernel.cu, CUDA C++ Frontend, 5, ms`; passes over what is not one.
std::vector<CompilePhase> parse_phases(std::string_view text);

/// A new empty file in the folder for temporary ones; removed with this. Where none can be made, there are no phases.
class PhaseFile {
 public:
  PhaseFile();
  PhaseFile(PhaseFile const&) = delete;
  PhaseFile& operator=(PhaseFile const&) = delete;
  ~PhaseFile();

  std::string const& path() const noexcept { return path_; }
  std::vector<CompilePhase> read() const;

 private:
  std::string path_;
};

}  // namespace tracing::inline v1::cuda::internal
