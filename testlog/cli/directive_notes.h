// DirectiveNotes: which directives of --filter selected nothing.
#pragma once

#include <map>
#include <string>

#include "testlog/cli/recordings.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/explain.h"

namespace testlog::cli {

class DirectiveNotes {
 public:
  /// Throws UsageError if the directives are wrong.
  DirectiveNotes(std::string command, std::string const& directives);

  /// REQUIRES: the recording was replayed.
  void add(RecordingFile const& file);
  /// A line for each directive that matched nothing in any of the recordings, with the nearest name. Values of
  /// fields are not looked at.
  std::string lines() const;

 private:
  std::string const command_;
  tracing::EnvFilter const filter_;
  bool has_files_ = false;
  std::map<std::string, tracing::DirectiveNote> notes_;  // by directive
};

}  // namespace testlog::cli
