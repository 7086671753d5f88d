// Makes the file of TRACE_RECORD.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/environment/env_options.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/record/ring/region.h"

namespace tracing { inline namespace v1 { namespace environment {

struct NewRecording {
  std::unique_ptr<internal::Region> region;  ///< null without a recording
  std::string path{};
};

/// Makes the one file of the process, with the path that `options.record` names. `%t` in the path is `test` or, if that
/// is empty, the program. Reports to `output` if the file cannot be made.
NewRecording open_recording(EnvOptions const& options, Output& output, std::string_view test = {});
/// Makes `<folder>/<name>`, and the folder. keep_failed_attempt() renames a recording of this name whose tests did not
/// pass; any other file is replaced, unless its process still runs: then the new name contains the number of this
/// process. If no file can be made, sets `error` to the reason.
NewRecording open_default_recording(std::string const& folder, std::string const& name, std::uint64_t limit_bytes,
                                    std::string& error);

}}}  // namespace tracing::v1::environment
