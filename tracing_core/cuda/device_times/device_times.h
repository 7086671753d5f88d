// DeviceTimes: reads the records of a CUPTI and reports them as activities.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracing_core/cuda/activity.h"
#include "tracing_core/cuda/device_times/calls_in_flight.h"
#include "tracing_core/cuda/device_times/cupti_api.h"
#include "tracing_core/support/mutex.h"

namespace tracing { inline namespace v1 { namespace cuda { namespace internal {

/// The client of a CUPTI: one at a time in a process, because CUPTI's callbacks for buffers have no argument for it.
///
/// CUPTI calls on_call() when a thread begins a call that gives a device work; the number of this call is also in the
/// records of the work. Records arrive in buffers, from a thread of CUPTI or in flush().
class DeviceTimes {
 public:
  explicit DeviceTimes(CuptiApi const& api);
  DeviceTimes(DeviceTimes const&) = delete;
  DeviceTimes& operator=(DeviceTimes const&) = delete;
  ~DeviceTimes();

  /// Returns why device times cannot be recorded; an empty text if they are.
  std::string start();
  void flush(bool all_ended) noexcept;

 private:
  struct Timed;
  // The work that a call of the driver asks for.
  enum class Work : std::uint8_t { other, kernel, copy, set, graph };

  static Work work_of(std::string_view call) noexcept;
  static void CUPTIAPI on_call(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data);
  static void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
  static void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                           std::size_t bytes, std::size_t valid_bytes);
  void begin_call(Work work, CUpti_CallbackData const& call);
  bool enable_callbacks();
  void read(std::uint8_t* buffer, std::size_t valid_bytes);
  void report(Timed const& timed);
  std::string failed(char const* call, CUptiResult result) const;
  std::uint8_t* take_buffer();
  void give_back(std::uint8_t* buffer) noexcept;

  CuptiApi const api_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::vector<Work> work_of_call_;  // by the number of the call in CUPTI
  CallsInFlight calls_;
  int const process_;                // a child that fork() made must not call CUPTI
  tracing::support::Mutex reading_;  // one buffer is read at a time, so that the activities of a stream stay in order
  tracing::support::Mutex mutex_;
  std::vector<std::unique_ptr<std::uint8_t[]>> free_buffers_ TRACING_GUARDED_BY(mutex_);
};

}}}}  // namespace tracing::v1::cuda::internal
