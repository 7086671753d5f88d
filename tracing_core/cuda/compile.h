// compile(): compiles CUDA source to PTX or machine code with NVRTC, in a span.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tracing_core/cuda/compile_log.h"
#include "tracing_core/cuda/nvrtc_api.h"
#include "tracing_core/emit/caller.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// A header that exists only in memory.
struct MemoryHeader {
  std::string name{};  ///< as in #include
  std::string source{};
};

/// Describes a compilation. NVRTC reads each text up to its first NUL.
struct CompileRequest {
  std::string name = "kernel.cu";  ///< the file named in messages; need not exist
  std::string source{};
  std::string arch = "compute_75";      ///< compute_XX: PTX; sm_XX: PTX and machine code
  std::vector<std::string> options{};   ///< NVRTC's options, except options that have fields below
  std::vector<MemoryHeader> headers{};  ///< searched before the folders
  std::vector<std::string> include_folders{};
  std::vector<std::string> name_expressions{};  ///< templates to instantiate: `matmul<float, 16>`
  std::string kernel_name{};                    ///< the field kernel.name of the span; `name` if empty
  /// The field kernel.id of the event "Compiling kernel": distinguishes the kernel from others of its name. May be as
  /// long as you like, since only this event has it.
  std::string kernel_id{};
  bool no_cache = false;  ///< disables the cache that NVRTC 12.9 and newer keep on disk
};

/// The result of a CompileRequest.
struct CompiledKernel {
  std::string ptx{};
  std::string cubin{};                       ///< machine code, an ELF file; empty for compute_XX
  std::vector<std::string> lowered_names{};  ///< for cuModuleGetFunction: one for each name expression, in order
  std::vector<KernelUsage> usage{};          ///< one for each function for which machine code was generated
  std::string log{};                         ///< the unmodified log of NVRTC and ptxas

  friend bool operator==(CompiledKernel const&, CompiledKernel const&) = default;
};

/// Thrown if the source does not compile. what() has the first error and the number of further errors.
class CompileError : public std::runtime_error {
 public:
  CompileError(nvrtcResult code, std::string const& sentence, std::string log);

  nvrtcResult code() const noexcept { return code_; }
  std::string const& log() const noexcept { return log_; }  ///< unmodified

 private:
  nvrtcResult code_;
  std::string log_;
};

/// Compiles. Throws CompileError.
///
/// Records a span `compile` {kernel.name, arch, options, headers, no_cache}, level INFO, and in it the events
/// "Compiling kernel" {kernel.id}, level TRACE, and "compiled", level DEBUG, with the fields {duration_ms, ptx_bytes,
/// cubin_bytes, registers, shared_bytes, spill_bytes}: registers and shared memory are the maximum, spills the sum over
/// all functions. At its end the span has these fields, too, and {lowered_names}. Each entry of the log is an event in
/// the span, ERROR, WARN or INFO, with the fields source.file, source.line and source.text (the text of that line). A
/// failure of NVRTC without a log entry is an ERROR, too. With TRACE_CUDA_SOURCE=on the event "Kernel source:", level
/// TRACE, has the source.
///
/// Thread-safe; NVRTC compiles one source at a time in a process. Costs at least ten milliseconds.
CompiledKernel compile(NvrtcApi const& nvrtc, CompileRequest const& request, Caller caller = Caller::here());

}}}  // namespace tracing::v1::cuda
