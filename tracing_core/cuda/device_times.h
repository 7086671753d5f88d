// Device times: when a GPU ran kernels, copies and memsets, by its own clock. Read from NVIDIA's CUPTI, which is opened
// while the program runs; where it cannot be used, measured by events around the calls of a Driver.
//
//     TRACE_CUDA_DEVICE_TIMES=on TRACE_FILTER=trace ctest --output-on-failure
//
// Each kernel, copy and memset becomes a span on the track of its stream, as activity.h describes, and follows from the
// span of the call that launched it. The span of a launch gets the field `gpu.time`, how long its kernel ran.
#pragma once

#include <string>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace cuda {

/// Begins to record device times by CUPTI, until the process ends. Returns why this cannot be done, and what would
/// help; an empty text if they are recorded. Further calls return what the first call returned. To be called before the
/// program creates a context: the driver then measures all contexts. The constructor of Driver and testlog::cuda call
/// it if TRACE_CUDA_DEVICE_TIMES=on.
///
/// CUPTI serves only one client. If a profiler runs the program, or the program uses CUPTI itself, nothing is recorded.
/// The span of a call stays open until the times of its work have been read. Thread-safe. Takes some 100 ms on a
/// machine with a GPU; makes a launch about 1 us slower.
std::string const& start_device_times();

/// Calls start_device_times() if TRACE_CUDA_DEVICE_TIMES=on. Emits the reason why this cannot be done as an event,
/// level WARN, once.
void start_device_times_if_asked();

/// Reports the times of all work that has ended. Calls of Driver that wait for the device do so by themselves.
/// `all_ended` says that the device has no work: calls whose times are not known by now stay without. Does nothing
/// while none are recorded, and in a child that fork() made. Thread-safe. Not to be called in a host function.
void flush_device_times(bool all_ended = false) noexcept;

}}}  // namespace tracing::v1::cuda
