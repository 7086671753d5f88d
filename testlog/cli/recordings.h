// The parts that are common to commands that read recordings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "testlog/cli/selection.h"
#include "tracing_core/export/print.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/record/piece.h"
#include "tracing_core/record/recording.h"

namespace testlog::cli {

/// A test, and when it began.
struct BegunTest {
  std::string name;
  tracing::Instant time{};
  bool has_ended = false;
};
/// Tests by the tag of their records.
using BegunTests = std::map<std::uint32_t, BegunTest>;

/// A recording, and what a command has learned about it.
struct OpenedRecording {
  std::string path;
  std::unique_ptr<tracing::recording::Recording> recording;
  std::function<bool(tracing::recording::Entry const&)> is_new{};      ///< true for records to print; null: all
  std::unordered_map<std::uint64_t, std::string_view> spans{};         ///< names of open spans, by key
  Progress* progress = nullptr;                                        ///< counts records
  std::size_t learned = 0;                                             ///< the number of calls of learn()
  std::shared_ptr<BegunTests> begun = std::make_shared<BegunTests>();  ///< tests whose beginning was replayed
  std::unordered_set<tracing::Metadata const*> callsites{};            ///< of spans and events
  std::map<std::uint32_t, std::string> running{};   ///< names of tests that began and did not end, by their tag
  std::map<std::uint32_t, std::string> selected{};  ///< names of tests that the command line selects, by their tag

  /// Learns the names of spans and tests, and the callsites. Call it for each record.
  void learn(tracing::recording::Entry const& entry);
};

/// Limits the text that a command makes from recordings: to 64 MiB, and 1024 bytes for each byte of their records.
/// Without a limit, a few bytes could name thousands of spans around thousands of records.
class OutputLimit {
 public:
  void add(OpenedRecording const& file) { left_ += kFactor * file.recording->size_bytes(); }
  void spend(std::size_t bytes) noexcept { left_ -= std::min<std::uint64_t>(left_, bytes); }
  /// Throws std::runtime_error if the limit is reached.
  void check(OpenedRecording const& file) const;

 private:
  static constexpr std::uint64_t kFactor = 1024;
  std::uint64_t left_ = 64 << 20;
};

/// Parses the directives of --filter. Throws UsageError if they are wrong.
tracing::EnvFilter parsed_filter(std::string const& command, std::string const& directives);
/// Returns the filter for reading a recording: the directives select spans and events; perf spans were selected when
/// they were recorded. Throws UsageError if the directives are wrong.
std::unique_ptr<tracing::Filter> filter_of(std::string const& command, std::string const& directives);

/// Opens a recording. If it cannot be read, returns null and prints the reason to standard error.
std::unique_ptr<OpenedRecording> open_recording(std::string const& command, std::string const& path);

/// Returns the spans, with their fields, that the main thread is in after the last record or, if it is in none, those
/// of another thread: `request{id=7}:load`. REQUIRES: learn() was called for each record.
std::string path_at_end(OpenedRecording const& file);

/// Returns notes for the reader, as lines: what is missing, what makes no sense, and which spans were still open.
/// REQUIRES: the recording was replayed.
std::string notes_of(std::string const& command, OpenedRecording const& file);
/// Overload that reports `lost` in place of the recording's own number of lost records.
std::string notes_of(std::string const& command, OpenedRecording const& file, tracing::recording::Losses lost);

struct LineOptions {
  std::string filter = "trace";
  tracing::FormatOptions format{};
  Selection selection{};  ///< if it is narrow, only records of its tests are printed
  tracing::SpanEvents span_events = tracing::SpanEvents::none;
  bool marks = false;           ///< also print what the recordings say about the run of tests
  bool relative_time = false;   ///< print the time since RecordPlace::begin() in place of the timer of `format`
  bool shortens_spans = false;  ///< as tracing::SpanPrefix does; for FormatKind::full
  bool names_tests = false;     ///< name the test in each line of text; off: only where recordings overlap
  /// Returns true for the records that are wanted. `begin` is when the record's test began or, outside of tests, the
  /// recording. Null: all are wanted.
  std::function<bool(tracing::recording::Entry const&, tracing::Instant begin)> is_wanted{};
  /// Returns false for pieces of a recording in which no record is wanted, whichever test it is of: tests began between
  /// `first_begin` and `last_begin`. Such pieces need not be read. Null: all are read if `is_wanted` is not null.
  std::function<bool(tracing::recording::Piece const&, tracing::Instant first_begin, tracing::Instant last_begin)>
      may_want{};
};

/// Makes lines from recordings and passes them to `out` in the order of time. Keeps lines in memory while a recording
/// that was not added yet may have earlier lines. A line of text names its thread, unless it is the main thread. From
/// the beginning of an overlap of recordings until their ends, it also names its test, `[Suite.Name]`, or outside of
/// tests its file.
class LinePrinter {
 public:
  using Out = std::function<void(std::string_view)>;
  LinePrinter(std::string command, LineOptions options, Out out);
  LinePrinter(LinePrinter const&) = delete;
  LinePrinter& operator=(LinePrinter const&) = delete;

  /// Adds the lines of a recording. `is_only`: no other recording is added, so lines need not be kept. Returns false if
  /// the selection leaves out the whole recording. Throws std::runtime_error if OutputLimit is reached; the lines
  /// before that are kept.
  bool add(OpenedRecording& file, bool is_only = false);
  /// Passes on the lines before this time. REQUIRES: recordings that are added later have no earlier records.
  void pass_until(tracing::Instant time);
  void finish();

  /// Returns true if a test was in the selection. seen_tests() has the tests of the recordings, at most kMaxSeenTests,
  /// for an error.
  bool found_tests() const noexcept { return found_tests_; }
  std::set<std::string> const& seen_tests() const noexcept { return seen_tests_; }

 private:
  struct Line {
    std::string text;
    std::size_t label;  // an index, or kNoLabel
  };
  // The times of the first and the last line of a recording.
  struct Range {
    tracing::Instant first, last;
  };
  static constexpr std::size_t kMaxSeenTests = 10'000;
  static constexpr std::size_t kNoLabel = ~std::size_t{0};

  class Tests;

  bool look_at_tests(RecordedTests const& tests, OpenedRecording& file);
  bool narrow(OpenedRecording const& file, RecordedTests const& tests, bool wants_outside, bool is_only) const;
  void keep(tracing::Instant time, std::string_view text, std::string const* label);
  void pass(tracing::Instant time, Line const& line);
  std::string labelled(std::string const& label, std::string_view text) const;

  std::string const command_;
  LineOptions const options_;
  Out const out_;
  std::multimap<tracing::Instant, Line> waiting_;
  std::vector<std::string> labels_;
  std::vector<Range> ranges_;  // of recordings that may still have lines
  tracing::Instant mixed_until_{INT64_MIN};
  bool found_tests_ = false;
  std::set<std::string> seen_tests_;
};

}  // namespace testlog::cli
