// What compile() and CompileCache share, and the parts of CompileCache.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile.h"
#include "tracing_core/cuda/nvrtc_library.h"

namespace tracing::inline v1::cuda::internal {

NvrtcVersion version_of(NvrtcApi const& nvrtc);

/// The request's options and include folders, as they are passed to NVRTC.
std::vector<std::string> shown_options(CompileRequest const& request);

/// What a cache did for a request.
struct CacheUse {
  char const* result = nullptr;  ///< the field `cache`; null if there is no cache
  std::uint64_t hits = 0;        ///< of the cache until now
  std::uint64_t misses = 0;
};

/// Emits the event that a kernel was found in a cache, in a span `compile` that has its result.
void report_hit(CompileRequest const& request, CompiledKernel const& kernel, CacheUse const& cache);

CompiledKernel compile(NvrtcApi const& nvrtc, CompileRequest const& request, CacheUse const& cache);

// ---- compile_key.cc ----

/// The key of a request, or the reason why it has none.
struct CompileKey {
  std::string hex{};      ///< empty: none
  std::string why_not{};  ///< what the result depends on that cannot be known; empty if there is a key
};

/// A digest of all that the result depends on: source, its name, options, architecture, name expressions, headers in
/// memory, the content of every file that may be included, and NVRTC's version and file. Reads those files.
CompileKey compile_key(NvrtcApi const& nvrtc, CompileRequest const& request);

// ---- included_files.cc ----

/// The operands of #include and __has_include in a source.
struct IncludeNames {
  std::vector<std::string> names{};  ///< as written between quotes or angle brackets
  std::string macro{};               ///< the first macro that names an included file; empty: none
};

/// Finds names also in comments and in branches that are not taken: a superfluous file does no harm.
IncludeNames include_names(std::string_view source);

struct IncludedFile {
  std::string path{};
  std::string content{};
};

/// The files that a request may include, directly and indirectly, each once. A name that matches files in several
/// folders gives all of them, so that NVRTC's search order does not matter.
struct IncludedFiles {
  std::deque<IncludedFile> files{};
  std::string why_unknown{};  ///< why the files cannot be known; empty if they are
};
IncludedFiles included_files(CompileRequest const& request);

// ---- kernel_file.cc: how a CompiledKernel is kept in a file ----

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
