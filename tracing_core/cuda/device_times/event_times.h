// EventTimes: measures by events of the driver when a device did what the calls of a Driver asked for.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tracing_core/cuda/activity.h"
#include "tracing_core/cuda/driver_api.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

/// For GPUs without CUPTI. measuring() returns calls that record an event on their stream before and after the work.
/// flush() reads the events that have happened, and reports the activities. Nothing waits for the work. The times of
/// the device become times of the system clock by an anchor: an event on a stream of its own, at each flush().
///
/// What an event costs the device, some microseconds, is part of each time. Captured calls and graphs are not measured.
/// One at a time in a process, because the calls in the table have no argument for it. Thread-safe.
class EventTimes {
 public:
  /// At most so many calls wait for their times; further calls are not measured.
  static constexpr std::size_t kMaxCalls = 1 << 16;

  explicit EventTimes(DriverApi const& api);
  EventTimes(EventTimes const&) = delete;
  EventTimes& operator=(EventTimes const&) = delete;
  ~EventTimes();

  /// Returns the object that exists; null if there is none.
  static EventTimes* running() noexcept;
  /// Returns true if `api` is the table that is measured.
  bool is_of(DriverApi const& api) const noexcept;
  /// Returns the table with calls that are measured if a Driver makes them. They must not be made after this object.
  DriverApi measuring() const noexcept;
  /// Reports the work that has ended. `all_ended`: further calls stay without times. Does nothing in a child that
  /// fork() made.
  void flush(bool all_ended) noexcept;

  /// What a call asks a device for.
  struct Work {
    DeviceActivity activity;
    CUstream stream = nullptr;
    CUfunction function = nullptr;  ///< of a kernel
  };
  /// Makes a call of measuring() by `call(api)`.
  template <class Call>
  static CUresult measure(Work const& work, Call const& call);

 private:
  struct Context {
    CUstream stream = nullptr;  // for the anchor: waits for no other stream
    CUevent anchor = nullptr;
    std::vector<CUevent> free_events;
  };
  // A call whose times will be read.
  struct Measured {
    CUcontext context = nullptr;
    CUevent begin = nullptr, end = nullptr;
    DeviceCall call;
    DeviceActivity activity;
  };
  struct Anchor {
    CUevent event = nullptr;
    Instant time{};
  };
  using Anchors = std::map<CUcontext, Anchor>;
  using Stream = std::pair<int, std::uint64_t>;  // of a device

  std::optional<Measured> begin(Work const& work) noexcept;
  bool end(Measured& measured, Work const& work, CUresult result) noexcept;
  bool take_events(Measured& measured) noexcept;
  bool prepare(Context& context) const noexcept;
  void give_back(Measured const& measured) noexcept;
  void keep(Measured&& measured) noexcept;
  std::optional<Anchor> anchor(CUcontext context, Anchors& anchors);
  bool report(Measured const& measured, Anchors& anchors) TRACING_REQUIRES(reporting_);

  DriverApi const api_;
  pid_t const process_;                // a child that fork() made must not use the driver
  tracing::support::Mutex reporting_;  // one thread reports at a time, so that activities stay in order
  std::map<Stream, Instant> last_ends_ TRACING_GUARDED_BY(reporting_);
  tracing::support::Mutex mutex_;
  std::map<CUcontext, Context> contexts_ TRACING_GUARDED_BY(mutex_);
  std::deque<Measured> waiting_ TRACING_GUARDED_BY(mutex_);  // for their times
};

/// Returns the table of a Driver: with measured calls if TRACE_CUDA_DEVICE_TIMES is `events`, or if it is `on` and
/// CUPTI cannot be used; else `api`. `reports_activity`: the driver does so by itself. The first table that is measured
/// is the only one. Defined in device_times.cc.
DriverApi with_event_times_if_asked(DriverApi const& api, bool reports_activity);

}}}}  // namespace tracing::v1::cuda::internal
