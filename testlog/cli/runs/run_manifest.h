// RunManifest: describes the recordings of a run in JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testlog/cli/run_marks.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli {

/// The `manifest.json` of a packed run, which docs/packed-runs.md describes. Single-thread.
class RunManifest {
 public:
  /// Adds the tests of a recording, which is in the run as `file`.
  void add(tracing::recording::Recording& recording, RecordedTests const& tests, std::string const& file);

  /// Returns the JSON object, with a line for each test.
  std::string json() const;
  std::size_t test_count() const noexcept { return tests_.size(); }
  std::size_t failed_count() const noexcept;

 private:
  /// The origin of a process, as its marks say. A member that the marks lack is empty.
  struct Origin {
    std::string run, host, revision, service, url, job;
    bool operator==(Origin const&) const = default;
  };
  struct Process {
    Origin origin;
    std::string command, attempt;
  };
  struct Entry {
    tracing::recording::Test test;
    std::string file;
    Process process;
  };
  class Attempts;

  static Process process_of(tracing::recording::Recording& recording);
  static void append_origin(tracing::TextBuffer& out, Origin const& origin);
  void append_test(tracing::TextBuffer& out, Entry const& entry, Attempts& attempts) const;

  Origin origin_;  // of the recording that was added first
  bool is_empty_ = true;
  std::vector<Entry> tests_;
};

}  // namespace testlog::cli
