// Device activity: what a device did and when. Reported by code that runs the work (a driver in this process) or
// measures it.
//
// A Driver emits spans of its calls. A launch returns before its kernel runs, so its span does not say when the kernel
// ran. Code that learns when the device did the work asks, during the call, which call it is, and reports the activity
// later:
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

namespace tracing { inline namespace v1 { namespace cuda {

/// The kind of an activity; also the name of its span.
enum class ActivityKind : std::uint8_t { kernel, memcpy_htod, memcpy_dtoh, memcpy_dtod, memset };

/// A call that gives a device work. While a copy of it exists, the span of the call stays open.
struct DeviceCall {
  Span span{};          ///< of the call; empty if it is disabled or not known
  LaunchId launch = 0;  ///< of the launch of a kernel
  int device = 0;
  std::uint64_t stream = 0;  ///< as in the field `stream`: 0 for the default stream
};

/// Returns the call of a Driver that this thread is making. Returns nothing outside of a call, or if activity of this
/// kind is not recorded: then nothing has to be measured. To be called by a driver in this process, or by CUPTI's
/// callback at the beginning of a call. Works with a Registry only, which lives as long as its spans are open; returns
/// nothing if the subscriber is of another type. Costs about 30 instructions while activity is not recorded.
std::optional<DeviceCall> current_device_call(ActivityKind kind) noexcept;

namespace internal {

class DeviceCallScope;

/// The device of a call that knows neither its device nor its stream.
inline constexpr int kUnknownDevice = -1;

/// Returns a call in the current span of this thread, such as the span of TRACE_LAUNCH, for programs that call the
/// runtime API or the driver directly. Returns nothing in a call of a Driver, or if activity of this kind is not
/// recorded.
std::optional<DeviceCall> call_without_driver(ActivityKind kind) noexcept;

/// Returns the name that a kernel has in the call of a Driver that this thread is making. REQUIRES:
/// current_device_call() returns this call. Valid until the process ends.
std::string_view kernel_of_call(CUfunction function);

/// While it exists, current_device_call() returns nothing on this thread, so that no other code reports the activity.
class [[nodiscard]] HiddenDeviceCall {
 public:
  HiddenDeviceCall() noexcept;
  HiddenDeviceCall(HiddenDeviceCall const&) = delete;
  HiddenDeviceCall& operator=(HiddenDeviceCall const&) = delete;
  ~HiddenDeviceCall();

 private:
  DeviceCallScope const* const hidden_;
};

}  // namespace internal

struct DeviceActivity {
  ActivityKind kind = ActivityKind::kernel;
  Instant begin{};  ///< nothing is recorded if the beginning or the end is not known
  Instant end{};
  std::uint64_t bytes = 0;  ///< copied or set
  // For kernels only:
  std::string_view kernel{};  ///< the kernel's name
  Dim3 grid{};
  Dim3 block{};
  unsigned shared_bytes = 0;            ///< static and dynamic
  unsigned dynamic_shared_bytes = 0;    ///< the part of shared_bytes that the launch asked for
  std::optional<unsigned> registers{};  ///< per thread
};

/// Emits the span of an activity, which follows from the span of the call. REQUIRES: activities of a stream are
/// reported in the order of their beginnings. Thread-safe. The record goes to the subscriber of the call's span or, if
/// `call` has no span, of this thread.
void report_activity(DeviceCall const& call, DeviceActivity const& activity) noexcept;

}}}  // namespace tracing::v1::cuda
