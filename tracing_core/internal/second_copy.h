// report_second_copy_once(): warns of a process that has loaded tracing::core twice.
#pragma once

namespace tracing::inline v1::internal {

/// Prints a warning to standard error, the first time, if a copy of tracing::core was loaded before this one: each copy
/// has its own subscribers. Of several copies all but the first find one. A copy whose functions the dynamic loader
/// replaced by those of the first is never asked. Thread-safe. Costs one load after the first call.
void report_second_copy_once() noexcept;

}  // namespace tracing::inline v1::internal
