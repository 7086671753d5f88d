// Device activity: what a device did and when, reported by what runs the work (a driver in this process) or measures it.
//
// A Driver emits spans of its calls. A launch returns before its kernel runs, so its span says nothing about when that
// was. Code that learns when the device did the work asks during the call which call it is, and reports the activity later:
//
//     std::optional<DeviceCall> const call = current_device_call(ActivityKind::kernel);   // in cuLaunchKernel
//     ...
//     if (call) report_activity(*call, {.kind = ActivityKind::kernel, .begin = begin, .end = end, .kernel = "saxpy"});
//
// Each report is a span, target `tracing::cuda::device`, level TRACE, on a track of the stream, `GPU 0 stream 7`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tracing_core/cuda/launch.h"
#include "tracing_core/model/instant.h"

namespace tracing::inline v1::cuda {

/// What the span is called, too.
enum class ActivityKind : std::uint8_t { kernel, memcpy_htod, memcpy_dtoh, memcpy_dtod, memset };

/// A call that gives a device work. While a copy of it exists, the span of the call stays open.
struct DeviceCall {
  Span span{};               ///< of the call; none if it is disabled or not known
  LaunchId launch = 0;       ///< of the launch of a kernel
  int device = 0;
  std::uint64_t stream = 0;  ///< as in the field `stream`: 0 for the default stream
};

/// The call of a Driver that this thread is making. None if activity of this kind is not recorded, or outside of a call:
/// then nothing has to be measured. For a driver in this process, or for CUPTI's callback at the beginning of a call.
/// Only for a Registry, which lives as long as its spans are open; for a subscriber of another type there is none.
/// Costs about 30 instructions while it is not recorded.
std::optional<DeviceCall> current_device_call(ActivityKind kind) noexcept;

struct DeviceActivity {
  ActivityKind kind = ActivityKind::kernel;
  Instant begin{};  ///< nothing is recorded if it or the end is not known
  Instant end{};
  std::uint64_t bytes = 0;  ///< copied or set
  // Of a kernel only:
  std::string_view kernel{};  ///< its name
  Dim3 grid{};
  Dim3 block{};
  unsigned shared_bytes = 0;          ///< static and dynamic
  unsigned dynamic_shared_bytes = 0;  ///< that of these which the launch asked for
  std::optional<unsigned> registers{};  ///< of each thread
};

/// Emits the span of an activity, which follows from the span of the call. REQUIRES: activities of a stream are reported
/// in the order of their beginnings. Thread-safe. Records go to the subscriber of the call's span, or of this thread if
/// it has none.
void report_activity(DeviceCall const& call, DeviceActivity const& activity) noexcept;

}  // namespace tracing::inline v1::cuda
