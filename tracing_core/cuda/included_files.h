// included_files(): the files that a source may include, for the key of its compiled kernel.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/compile.h"

namespace tracing::inline v1::cuda::internal {

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

}  // namespace tracing::inline v1::cuda::internal
