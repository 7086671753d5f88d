// export_perfetto_archive(): one timeline of the processes of a run, or of a farm, for ui.perfetto.dev.
#pragma once

#include <cstddef>
#include <string>

#include "testlog/cli/commands.h"
#include "testlog/cli/selection.h"

namespace testlog::cli {

struct ArchiveOptions {
  static constexpr std::size_t kDefaultTop = 1000;  // more make the viewer slow

  Inputs inputs{};
  std::string filter = "trace";
  std::string output{};           ///< the TAR
  std::size_t top = kDefaultTop;  ///< how many recordings are in it: tests that failed first, then the slowest; 0: all
};

/// Returns true if a file is such a TAR, and has no recordings.
bool is_perfetto_archive(std::string const& path);

/// Writes the TAR that docs/timeline.md describes. Reports what is missing, and clocks that differ. Throws UsageError
/// if the directives are wrong or the output is a recording, and as read_timeline() does.
Status export_perfetto_archive(ArchiveOptions const& options);

}  // namespace testlog::cli
