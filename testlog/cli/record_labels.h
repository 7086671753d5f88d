// RecordLabels: what a line of a recording says before and beside its record, as testlog does while tests run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
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

/// The names of a recording's threads.
class ThreadNames {
 public:
  explicit ThreadNames(tracing::internal::Recording const& recording);
  /// Whether several threads have this name: then it is printed with the thread's number, which `--thread` takes.
  bool is_shared(std::string_view name) const { return shared_.contains(name); }
  /// `worker`, `worker 3` or `thread 3`, printable.
  std::string of(tracing::internal::RecordedThread const& thread) const;

 private:
  std::set<std::string, std::less<>> shared_;
};

/// Text begins with `[outside any test]` or `[late, from Suite.Name]` where that is so, and with the name of the thread,
/// `[worker-1]`, and its number if several have this name, unless it is the main thread of the process; JSON objects end
/// with the members "test", "late" and "thread".
class RecordLabels final : public tracing::EventFormat {
 public:
  /// `relative`: the time is that since the beginning, as in a failure report, in place of that of `format`.
  RecordLabels(tracing::FormatOptions format, bool relative, tracing::internal::Recording const& recording,
               RecordPlace const& place);

  bool append(tracing::TextBuffer& out, tracing::EventView const& event) const noexcept override;

 private:
  void append_label(tracing::TextBuffer& out, tracing::Track const& track) const noexcept;

  RecordPlace const& place_;
  bool const is_json_;
  bool const is_coloured_;
  bool const has_relative_time_;  // of text
  std::uint64_t const main_track_;  // zero if there is none
  ThreadNames const names_;
  std::shared_ptr<tracing::EventFormat const> const format_;
};

}  // namespace testlog::cli
