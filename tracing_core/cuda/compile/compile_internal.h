// The parts that compile() and CompileCache share, and the parts of CompileCache.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile.h"
#include "tracing_core/cuda/nvrtc_library.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

NvrtcVersion version_of(NvrtcApi const& nvrtc);

/// Returns the request's options and include folders, as they are passed to NVRTC.
std::vector<std::string> shown_options(CompileRequest const& request);

/// The use of a cache for a request.
struct CacheUse {
  char const* result = nullptr;  ///< the field `cache`; null without a cache
  std::uint64_t hits = 0;        ///< of the cache until now
  std::uint64_t misses = 0;
};

/// Emits the event that a kernel was found in a cache, in a span `compile` with the result.
void report_hit(CompileRequest const& request, CompiledKernel const& kernel, CacheUse const& cache);

CompiledKernel compile(NvrtcApi const& nvrtc, CompileRequest const& request, CacheUse const& cache);

// ---- compile_key.cc ----

/// The key of a request, or the reason why it cannot have a key.
struct CompileKey {
  std::string hex{};      ///< empty if the request has no key
  std::string why_not{};  ///< why the files that the result depends on cannot be known; empty if the request has a key
};

/// Computes a digest of everything that the result depends on: source, its name, options, architecture, name
/// expressions, headers in memory, the content of every file that may be included, and NVRTC's version and file. Reads
/// all files that may be included.
CompileKey compile_key(NvrtcApi const& nvrtc, CompileRequest const& request);

// ---- included_files.cc ----

/// The operands of #include and __has_include in a source.
struct IncludeNames {
  std::vector<std::string> names{};  ///< as written between quotes or angle brackets
  std::string macro{};               ///< the first macro that names an included file; empty if no macro does
};

/// Finds the names in a source, also in comments and in branches that are not taken: a superfluous file does no harm.
IncludeNames include_names(std::string_view source);

struct IncludedFile {
  std::string path{};
  std::string content{};
};

/// The files that a request may include, directly and indirectly, each once. A name that matches files in several
/// folders gives all of them, so that NVRTC's search order does not matter.
struct IncludedFiles {
  std::deque<IncludedFile> files{};
  std::string why_unknown{};  ///< why the files cannot be known; empty if they are known
};
IncludedFiles included_files(CompileRequest const& request);

// ---- kernel_file.cc: files of a CompiledKernel ----

/// Returns the kernel as bytes that end with a checksum.
std::string to_bytes(CompiledKernel const& kernel);
/// Inverts to_bytes(). Returns nothing for any other bytes.
std::optional<CompiledKernel> from_bytes(std::string_view bytes);

/// Reads a file of write_kernel(). Returns nothing if the file is missing or damaged.
std::optional<CompiledKernel> read_kernel(std::string const& path);

/// Writes a temporary file and renames it, so that other processes see the complete file or no file. Creates the
/// folder. Returns what failed; empty on success.
std::string write_kernel(std::string const& folder, std::string const& name, CompiledKernel const& kernel);

}}}}  // namespace tracing::v1::cuda::internal
