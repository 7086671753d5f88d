// The file of TRACE_RECORD.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/environment/env_options.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/record/region.h"

namespace tracing::inline v1::internal {

struct RecordingFile {
  std::unique_ptr<Region> region;  ///< null if there is none
  std::string path{};
};

/// Makes the file that `options.record` names, one for the process, in which `%t` is `test` or, if that is empty, the program. If
/// it cannot be made, that is reported to `output`.
RecordingFile open_recording(EnvOptions const& options, Output& output, std::string_view test = {});
/// Makes `<folder>/<name>`, and the folder. A file of that name is replaced, unless its process still runs: then the
/// name gets the number of this process. `error` says why there is no file.
RecordingFile open_default_recording(std::string const& folder, std::string const& name, std::uint64_t limit_bytes,
                                     std::string& error);

}  // namespace tracing::inline v1::internal
