// RecordingStatistics: computes the statistics of the recordings and tests that a command selects.
#pragma once

#include <string>
#include <vector>

#include "testlog/cli/directive_notes.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/selection.h"
#include "tracing_core/inspect/statistics_reader.h"

namespace testlog::cli {

/// Reads recordings and adds up their statistics.
class RecordingStatistics {
 public:
  /// Throws UsageError if the directives are wrong.
  RecordingStatistics(std::string command, std::string filter, tracing::StatisticsBy by);

  /// Reads all selected recordings, and shows progress. If a file cannot be read, prints the reason to standard error
  /// and returns false at the end.
  bool add_all(Selection const& selection);
  tracing::Statistics finish() { return reader_.finish(); }

  /// Returns the selected tests.
  std::vector<RecordedTest> const& tests() const noexcept { return tests_; }
  /// Returns notes for the reader: the notes of notes_of() and DirectiveNotes.
  std::string notes() const { return notes_ + directives_.lines(); }

 private:
  void add(OpenedRecording& file, Selection const& selection);

  std::string const command_;
  std::string const filter_;
  tracing::recording::StatisticsReader reader_;
  std::vector<RecordedTest> tests_;
  DirectiveNotes directives_;
  std::string notes_;
};

}  // namespace testlog::cli
