// What the commands share that read recordings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "testlog/cli/selection.h"
#include "tracing_core/export/print.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/reader.h"

namespace testlog::cli {

/// A test, and when it began.
struct BegunTest {
  std::string name;
  tracing::Instant time{};
  bool has_ended = false;
};
/// By the tag of their records.
using BegunTests = std::map<std::uint32_t, BegunTest>;

/// A recording, and what a command knows of it.
struct RecordingFile {
  std::string path;
  std::unique_ptr<tracing::internal::Recording> recording;
  std::function<bool(tracing::internal::RecordEntry const&)> is_new{};  ///< which records are printed; null: all
  std::unordered_map<std::uint64_t, std::string_view> spans{};  ///< names by key, of those that are open
  Progress* progress = nullptr;                            ///< of records
  std::size_t learned = 0;                                 ///< how many records
  std::shared_ptr<BegunTests> begun = std::make_shared<BegunTests>();  ///< those whose beginning was replayed
  std::unordered_set<tracing::Metadata const*> callsites{};  ///< of spans and events
  std::map<std::uint32_t, std::string> running{};  ///< names of the tests that began and did not end, by their tag
  std::map<std::uint32_t, std::string> selected{};  ///< the same of those that the command line selects, if it does

  /// Call it for each record: learns the names of spans and tests, and the callsites.
  void learn(tracing::internal::RecordEntry const& entry);
};

/// How much text a command makes of recordings at most: 64 MiB, and 1024 bytes for each byte of their records. A few bytes can
/// name thousands of spans around thousands of records.
class OutputLimit {
 public:
  void add(RecordingFile const& file) { left_ += kFactor * file.recording->size_bytes(); }
  void spend(std::size_t bytes) noexcept { left_ -= std::min<std::uint64_t>(left_, bytes); }
  /// Throws std::runtime_error if it is spent.
  void check(RecordingFile const& file) const;

 private:
  static constexpr std::uint64_t kFactor = 1024;
  std::uint64_t left_ = 64 << 20;
};

/// Throws UsageError if the directives are wrong.
tracing::EnvFilter parsed_filter(std::string const& command, std::string const& directives);
/// The filter of a reader: the directives select spans and events; perf spans were selected when they were recorded. Throws
/// UsageError if the directives are wrong.
std::unique_ptr<tracing::Filter> filter_of(std::string const& command, std::string const& directives);

/// Null if it cannot be read, which is reported on standard error.
std::unique_ptr<RecordingFile> open_recording(std::string const& command, std::string const& path);

/// Notes for the reader, as lines: what is missing, what makes no sense, and which spans were still open. REQUIRES: the recording was replayed.
std::string notes_of(std::string const& command, RecordingFile const& file);
/// The same, but for the records that are missing.
std::string notes_of(std::string const& command, RecordingFile const& file, tracing::internal::LostRecords lost);

struct LineOptions {
  std::string filter = "trace";
  tracing::FormatOptions format{};
  Selection selection{};  ///< if it is narrow, only records of its tests
  tracing::SpanEvents span_events = tracing::SpanEvents::none;
  bool marks = false;     ///< also what the recordings say about the run of tests
  bool relative_time = false;  ///< in place of the timer of `format`: the time since the test began, else the recording
  bool names_tests = false;    ///< each line of text; else only those of recordings that overlap
  /// Which records are wanted, by their test's beginning, or that of the recording outside of tests; null: all.
  std::function<bool(tracing::internal::RecordEntry const&, tracing::Instant begin)> is_wanted{};
};

/// Makes lines of recordings and passes them to `out` in the order of time. Keeps lines in memory while a recording that was not
/// added yet may have earlier ones. Lines of text name their thread unless it is the main one, and `[Suite.Name]`, or the
/// file outside of tests, from where recordings overlap until these have no more lines.
class LinePrinter {
 public:
  using Out = std::function<void(std::string_view)>;
  LinePrinter(std::string command, LineOptions options, Out out);
  LinePrinter(LinePrinter const&) = delete;
  LinePrinter& operator=(LinePrinter const&) = delete;

  /// `is_only`: no other one is added, so that nothing need be kept. Returns false if the selection leaves
  /// out all of it. Throws std::runtime_error if OutputLimit is spent; the lines before that are kept.
  bool add(RecordingFile& file, bool is_only = false);
  /// All records of the recordings that are still to be added happen at this time or later.
  void pass_until(tracing::Instant time);
  void finish();

  /// Whether any test was in the selection; if not, some of those that were not.
  bool found_tests() const noexcept { return found_tests_; }
  std::string const& other_tests() const noexcept { return other_tests_; }

 private:
  struct Line {
    std::string text;
    std::size_t label;  // an index, or kNoLabel
  };
  // From the first to the last line of a recording.
  struct Range {
    tracing::Instant first, last;
  };
  static constexpr std::size_t kNoLabel = ~std::size_t{0};

  class Tests;

  bool look_at_tests(RecordedTests const& tests, RecordingFile& file);
  void keep(tracing::Instant time, std::string_view text, std::string const* label);
  void pass(tracing::Instant time, Line const& line);

  std::string const command_;
  LineOptions const options_;
  Out const out_;
  std::multimap<tracing::Instant, Line> waiting_;
  std::vector<std::string> labels_;
  std::vector<Range> ranges_;  // of recordings that may still have lines
  tracing::Instant mixed_until_{INT64_MIN};
  bool found_tests_ = false;
  std::string other_tests_;
};

}  // namespace testlog::cli
