// DirectiveNotes: finds the directives of --filter that selected nothing.
#pragma once

#include <map>
#include <string>

#include "testlog/cli/recordings.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/filter/explain.h"

namespace testlog::cli {

/// Collects notes about the directives of --filter.
class DirectiveNotes {
 public:
  /// Throws UsageError if the directives are wrong.
  DirectiveNotes(std::string command, std::string const& directives);

  /// Looks at the callsites of a recording. REQUIRES: the recording was replayed.
  void add(OpenedRecording const& file);
  /// Returns a line for each directive that matched nothing in any of the recordings, with the nearest name. Does not
  /// look at values of fields.
  std::string lines() const;

 private:
  std::string const command_;
  tracing::EnvFilter const filter_;
  bool has_files_ = false;
  std::map<std::string, tracing::DirectiveNote> notes_;  // by directive
};

}  // namespace testlog::cli
