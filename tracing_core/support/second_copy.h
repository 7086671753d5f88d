// report_second_copy_once(): warns if a process has loaded tracing::core twice.
#pragma once

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Prints a warning to standard error, in the first call only, if another copy of tracing::core was loaded before this
/// copy: each copy has its own subscribers. So every copy except the first prints it. If the dynamic loader uses the
/// first copy's functions in place of another copy's, this other copy is never called and does no harm. Thread-safe.
/// Costs one load after the first call.
void report_second_copy_once() noexcept;

}}}  // namespace tracing::v1::support
