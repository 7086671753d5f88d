// NotedFailures: when and where assertions failed, for the failure report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "testlog/capture/attribution.h"
#include "testlog/framework.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/support/mutex.h"

namespace testlog { inline namespace v1 {

struct NotedFailure {
  std::uint64_t ticks = 0;  ///< a place in the recording, see Capture
  std::uint64_t thread = 0;
  std::string thread_name{};
  std::string path{};  ///< the spans of the thread, `outer{id=7}:inner`
  std::string text{};  ///< `file.cc:7: message on one line`
  Owner owner{};       ///< of the work that failed; GoogleTest counts the failure to the running test

  tracing::Track track() const noexcept { return {thread, thread_name}; }
};

/// The failures since the last report, in the order of time. Thread-safe.
class NotedFailures {
 public:
  static constexpr std::size_t kMax = 1000;  ///< further failures are only counted

  /// Called on the thread that failed, in the spans `path`.
  void add(framework::Part const& failure, std::string_view path, Owner owner, std::uint64_t ticks);
  /// Returns the failures and forgets them. If there were more than kMax, one more entry says how many.
  std::vector<NotedFailure> take();

 private:
  tracing::support::Mutex mutex_;
  std::vector<NotedFailure> failures_ TRACING_GUARDED_BY(mutex_);
  std::uint64_t more_ TRACING_GUARDED_BY(mutex_) = 0;
};

}}  // namespace testlog::v1
