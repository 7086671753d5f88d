// read_packed_run(): what a TAR of recordings, such as `testlog pack` makes, tells about a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testlog/cli/runs/recorded_runs.h"
#include "testlog/summary/run_summary.h"

namespace testlog::cli {

/// The tests whose recordings are in a TAR. Without TRACE_RECORD_KEEP=all, tests that passed left none.
struct PackedRun {
  RecordedRun run;              ///< `folder` is the TAR; the id is that of the recording that began first
  summary::RunSummary summary;  ///< `folder` is the TAR, too; each recording of a test is an attempt
  std::size_t recordings = 0;
  bool is_complete = true;  ///< all of the TAR could be read
};

/// Reads all recordings of a TAR or, if `paths` are several, of TARs, folders and files, as if the first had them.
/// Reports what cannot be read. Throws std::runtime_error if there is no recording. REQUIRES: `paths` is not empty.
PackedRun read_packed_run(std::string const& command, std::vector<std::string> const& paths);

}  // namespace testlog::cli
