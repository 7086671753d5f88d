// What the commands share that read recordings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracing_core/export/print.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/reader.h"

namespace testlog::cli {

/// A recording, and what a command knows of it.
struct RecordingFile {
  std::string path;
  std::unique_ptr<tracing::internal::Recording> recording;
  std::function<bool(tracing::internal::RecordEntry const&)> is_new{};  ///< which records are printed; null: all
  std::unordered_map<std::uint64_t, std::string> spans{};  ///< names by key, of those that were replayed

  /// Call it for each record: learns the names of spans.
  void learn(tracing::internal::RecordEntry const& entry);
};

/// Throws UsageError if the directives are wrong.
tracing::EnvFilter filter_of(std::string const& command, std::string const& directives);

/// Null if it cannot be read, which is reported on standard error.
std::unique_ptr<RecordingFile> open_recording(std::string const& command, std::string const& path);

/// Reports what a reader must know besides the records: what is missing, what makes no sense, and which spans were still
/// open. REQUIRES: the recording was replayed.
void print_notes(std::string const& command, RecordingFile const& file);
/// The same, but for the number of records that are missing.
void print_notes(std::string const& command, RecordingFile const& file, std::uint64_t lost);

struct LineOptions {
  std::string filter = "trace";
  tracing::FormatOptions format{};
  std::string tests{};   ///< patterns as matches_any() takes them; empty: the records of all tests and those of none
  bool marks = false;    ///< also what the recordings say about the run of tests
};

/// Passes the records of all files to `out` as lines, in the order of time.
void print_lines(std::string const& command, std::vector<std::unique_ptr<RecordingFile>> const& files,
                 LineOptions const& options, std::function<void(std::string_view)> const& out);

/// The files, and in place of folders the recordings in them, `*.rec`, by name. Throws UsageError if a folder has none.
std::vector<std::string> with_folders_opened(std::string const& command, std::vector<std::string> const& paths);

}  // namespace testlog::cli
