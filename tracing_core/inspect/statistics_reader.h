// StatisticsReader: makes Statistics from recordings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tracing_core/filter/filter.h"
#include "tracing_core/inspect/statistics_sums.h"
#include "tracing_core/record/recording.h"

namespace tracing { inline namespace v1 { namespace recording {

/// The recording of a process.
struct StatisticsSource {
  explicit StatisticsSource(Recording& from) : recording(from) {}

  Recording& recording;
  std::unique_ptr<Filter> filter{};          // null: everything
  std::function<void(Entry const&)> each{};  // called for each record; may be null
  internal::TestOfTag test_of{};             // null: the recording has no tests
};

/// Adds up recordings. Single-thread.
class StatisticsReader {
 public:
  explicit StatisticsReader(StatisticsBy by) : sums_{by} {}

  void add(StatisticsSource source);
  /// Returns the statistics of all recordings added, in the order of self times.
  Statistics finish();

 private:
  internal::StatisticsSums sums_;
};

}}}  // namespace tracing::v1::recording
