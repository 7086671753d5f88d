// Declares how the files are found that a source includes, for the key of what was compiled of it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda::internal {

/// What a text asks for by #include and __has_include.
struct IncludeNames {
  std::vector<std::string> names{};  ///< as written between quotes or angles
  std::string computed{};            ///< the first that a macro names, which only the compiler knows; empty: none
};

/// Finds the names in a source, those in comments and in branches that are not taken as well: a file too many does no harm.
/// Takes linear time.
IncludeNames include_names(std::string_view source);

/// A file that may have been included.
struct IncludedFile {
  std::string path{};
  std::string content{};
};

/// The files that a request may include, and theirs, each once; names that no folder holds have none. A file that stands in
/// several folders is there several times, since the order of search is NVRTC's affair.
struct IncludedFiles {
  std::deque<IncludedFile> files{};
  std::string why_unknown{};  ///< why the files cannot be known; empty: they are
};
IncludedFiles included_files(CompileRequest const& request);

}  // namespace tracing::inline v1::cuda::internal
