// RecordLabels: what a line of a recording says before and beside its record, as testlog does while tests run.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "tracing_core/format/event_format.h"
#include "tracing_core/record/reader.h"

namespace testlog::cli {

/// Where a record is in the recorded run. Must outlive its users.
class RecordPlace {
 public:
  /// When the test began or, outside of tests, the recording.
  virtual tracing::Instant begin() const noexcept = 0;
  /// The name of the test; empty if there is none.
  virtual std::string_view test() const noexcept = 0;
  /// Whether it is outside any test of a recording of tests.
  virtual bool is_outside_tests() const noexcept = 0;
  /// Whether its test had ended.
  virtual bool is_late() const noexcept = 0;

 protected:
  ~RecordPlace() = default;
};

/// Text begins with `[outside any test]` or `[late, from Suite.Name]` where that is so, and with the name of the thread,
/// `[worker-1]`, unless it is the main thread of the process; JSON objects end with the members "test", "late" and "thread".
class RecordLabels final : public tracing::EventFormat {
 public:
  /// `relative`: the time is that since the beginning, as in a failure report, in place of that of `format`.
  RecordLabels(tracing::FormatOptions format, bool relative, tracing::internal::Recording const& recording,
               RecordPlace const& place);

  bool append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept override;

 private:
  RecordPlace const& place_;
  bool const is_json_;
  bool const is_coloured_;
  bool const has_relative_time_;  // of text
  std::uint64_t const main_track_;  // zero if there is none
  std::shared_ptr<tracing::EventFormat const> const format_;
};

}  // namespace testlog::cli
