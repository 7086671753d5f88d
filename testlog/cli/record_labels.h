// RecordLabels: adds to a recorded line the labels that it would have had while tests ran.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tracing_core/format/event_format.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli {

/// Tells the place of a record in the recorded run. Must outlive its users.
class RecordPlace {
 public:
  /// Returns when the record's test began or, outside of tests, the recording.
  virtual tracing::Instant begin() const noexcept = 0;
  /// Returns the name of the record's test; empty outside of tests.
  virtual std::string_view test() const noexcept = 0;
  /// Returns true if the recording has tests, and the record is outside of them.
  virtual bool is_outside_tests() const noexcept = 0;
  /// Returns true if the record's test had ended.
  virtual bool is_late() const noexcept = 0;

 protected:
  ~RecordPlace() = default;
};

/// Returns `worker` or, if the thread has no name, `thread 3`; printable.
std::string name_of(tracing::recording::Thread const& thread);

/// Adds labels to records. Text begins with `[outside any test]` or `[late, from Suite.Name]`, if that is true of the
/// record, and with the name of the thread, `[worker-1]`, unless it is the main thread of the process. JSON objects end
/// with the members "test", "late" and "thread".
class RecordLabels final : public tracing::EventFormat {
 public:
  /// `relative`: print the time since RecordPlace::begin(), as in a failure report, in place of the time of `format`.
  RecordLabels(tracing::FormatOptions format, bool relative, tracing::recording::Recording const& recording,
               RecordPlace const& place);

  bool append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept override;

 private:
  RecordPlace const& place_;
  bool const is_json_;
  bool const is_coloured_;
  bool const has_relative_time_;    // for text only
  std::uint64_t const main_track_;  // zero if the main thread recorded nothing
  std::shared_ptr<tracing::SpanPrefix> const prefix_;
  std::shared_ptr<tracing::EventFormat const> const format_;
};

}  // namespace testlog::cli
