// RecordingStatistics: the statistics of the recordings and tests that a command selects.
#pragma once

#include <string>
#include <vector>

#include "testlog/cli/directive_notes.h"
#include "testlog/cli/recordings.h"
#include "testlog/cli/selection.h"
#include "tracing_core/inspect/statistics_reader.h"

namespace testlog::cli {

class RecordingStatistics {
 public:
  /// Throws UsageError if the directives are wrong.
  RecordingStatistics(std::string command, std::string filter, tracing::StatisticsBy by);

  /// Reads all of them, with progress. Returns false if a file cannot be read, which is reported on standard error.
  bool add_all(Selection const& selection);
  tracing::Statistics finish() { return reader_.finish(); }

  /// The selected tests.
  std::vector<RecordedTest> const& tests() const noexcept { return tests_; }
  /// Notes for the reader: those of notes_of() and DirectiveNotes.
  std::string notes() const { return notes_ + directives_.lines(); }

 private:
  void add(RecordingFile& file, Selection const& selection);

  std::string const command_;
  std::string const filter_;
  tracing::internal::StatisticsReader reader_;
  std::vector<RecordedTest> tests_;
  DirectiveNotes directives_;
  std::string notes_;
};

}  // namespace testlog::cli
