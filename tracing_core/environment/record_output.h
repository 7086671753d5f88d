// The file of TRACE_RECORD.
#pragma once

#include <memory>

#include "tracing_core/environment/env_options.h"
#include "tracing_core/environment/output.h"
#include "tracing_core/record/region.h"

namespace tracing::inline v1::internal {

/// Makes the file that `options.record` names, one for the process. Null if it names none, or if the file cannot be made,
/// which is reported to `output`.
std::unique_ptr<Region> open_recording(EnvOptions const& options, Output& output);

}  // namespace tracing::inline v1::internal
