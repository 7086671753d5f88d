// report_second_copy_once(): warns of a process that has loaded tracing::core twice.
#pragma once

namespace tracing::inline v1::internal {

/// Prints a warning to standard error, the first time, if a copy of tracing::core was loaded before this one: each copy
/// has its own subscribers. So all copies but the first print it. A copy whose functions the dynamic loader replaced by
/// those of the first is never called, and does no harm. Thread-safe. Costs one load after the first call.
void report_second_copy_once() noexcept;

}  // namespace tracing::inline v1::internal
