// Declares compile(), which makes PTX or machine code of CUDA source with NVRTC, as a span.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tracing_core/cuda/compile_log.h"
#include "tracing_core/cuda/nvrtc_api.h"

namespace tracing::inline v1::cuda {

/// A header that exists in memory only.
struct MemoryHeader {
  std::string name{};  ///< as #include names it
  std::string source{};
};

/// What to compile, and how.
struct CompileRequest {
  std::string name = "kernel.cu";              ///< the file that messages name; need not exist
  std::string source{};
  std::string arch = "compute_75";             ///< compute_XX: PTX; sm_XX: PTX and machine code
  std::vector<std::string> options{};          ///< NVRTC's, without those that fields below stand for
  std::vector<MemoryHeader> headers{};         ///< looked up before folders
  std::vector<std::string> include_folders{};
  std::vector<std::string>
      name_expressions{};  ///< `matmul<float, 16>`: templates to instantiate; see CompiledKernel::lowered_names
  std::string kernel_name{};                   ///< the span's field kernel.name; empty: `name`
  bool no_cache = false;  ///< keep NVRTC (12.9 or newer) from its own cache, which is on disk where there is a driver
  bool phase_times = false;                    ///< see CompiledKernel::phases; takes a temporary file
};

/// How long one phase of a compilation took, as NVRTC tells it.
struct CompilePhase {
  std::string name;  ///< "CUDA C++ Frontend"
  std::chrono::duration<double, std::milli> duration{};

  friend bool operator==(CompilePhase const&, CompilePhase const&) = default;
};

/// What came of a CompileRequest.
struct CompiledKernel {
  std::string ptx{};
  std::string cubin{};                       ///< machine code, an ELF file; empty for compute_XX
  std::vector<std::string> lowered_names{};  ///< of each name expression, in order: what cuModuleGetFunction finds
  std::vector<KernelUsage> usage{};          ///< of each function for which machine code was made
  std::vector<CompilePhase> phases{};        ///< where they were asked for
  std::string log{};                         ///< NVRTC's and ptxas' own words, as they came

  friend bool operator==(CompiledKernel const&, CompiledKernel const&) = default;
};

/// Why there is no CompiledKernel. what() is the first error and how many there are.
class CompileError : public std::runtime_error {
 public:
  CompileError(nvrtcResult code, std::string const& sentence, std::string log);

  nvrtcResult code() const noexcept { return code_; }
  std::string const& log() const noexcept { return log_; }  ///< all of it

 private:
  nvrtcResult code_;
  std::string log_;
};

/// Compiles. Throws CompileError.
///
/// Records a span `compile` {kernel.name, arch, options, headers, no_cache}, and in the end {lowered_names, ptx_bytes,
/// cubin_bytes, registers, shared_bytes, spill_bytes, phases_ms}: registers and shared memory of the function that takes most,
/// the spills of all. In it each entry of the log is an event, ERROR, WARN or INFO, with the place it names as the fields
/// source.file, source.line and source.text, which is that line. What has no entry, such as that NVRTC itself lacks something,
/// is an ERROR, too.
///
/// Thread-safe; NVRTC compiles one at a time in a process. Costs from ten milliseconds on.
CompiledKernel compile(NvrtcApi const& nvrtc, CompileRequest const& request);

}  // namespace tracing::inline v1::cuda
