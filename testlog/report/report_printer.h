// ReportPrinter: prints the lines of a failure report that were chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "testlog/outputs/labels.h"
#include "testlog/report/report_lines.h"
#include "testlog/report/report_parts.h"
#include "testlog/report/report_walk.h"
#include "tracing_core/format/span_prefix.h"
#include "tracing_core/record/recording.h"

namespace testlog { inline namespace v1 {

/// The result of a first walk over the records, for the second walk, which prints.
struct ReportPlan {
  explicit ReportPlan(std::size_t limit) noexcept : lines(limit) {}

  void add(ReportLines::Kind kind, std::uint64_t ticks, std::uint64_t track) {
    if (first_ticks == 0) first_ticks = ticks, first_track = track;
    has_threads |= track != first_track;
    lines.add(kind);
  }

  ReportLines lines;
  bool misses_any = false;   ///< a record or a span around it was not shown as it happened
  bool has_threads = false;  ///< there are lines of more than one thread
  std::uint64_t first_ticks = 0;
  std::uint64_t first_track = 0;
};

/// Makes a registry that prints the records that `filter` selects.
std::shared_ptr<tracing::Registry> printing_registry(tracing::PrintOptions options,
                                                     std::unique_ptr<tracing::Filter> filter);

/// Keeps about a megabyte of text at most. Single-thread.
class ReportPrinter {
 public:
  using Write = std::function<void(std::string_view)>;

  /// `begin` is the text before the first line. `write` gets all text, in large parts.
  ReportPrinter(ReportParts const& parts, ReportPlan const& plan, std::string begin, Write write);

  /// Prints the lines that `walk` meets in `recording`. If no line tells of a record, prints nothing and returns false.
  bool print(tracing::recording::Recording& recording, ReportWalk walk);
  /// Writes `text` after the last line, and all text that is left.
  void end(std::string_view text);

 private:
  bool follow(tracing::recording::Entry const& entry, ReportWalk& walk);
  void print_failure(NotedFailure const& failure);
  void append_path(tracing::TextBuffer& out, NotedFailure const& failure) const;
  bool begin_line(std::uint64_t& left_out);
  void print_gap();
  std::string prefix_at(std::uint64_t ticks) const;
  std::string prefix_after(std::int64_t ns) const;
  // In `pretty` an empty line follows each record.
  std::string_view line_end() const noexcept { return tracing::formatting::record_end(parts_.environment.format); }
  void flush_if_large();

  static constexpr std::size_t kFlushBytes = 1 << 20;

  ReportParts const& parts_;
  ReportPlan const& plan_;
  Write const write_;
  ThreadLabels const threads_;
  bool const has_times_;
  std::uint64_t const zero_;  // the place whose time is printed as +0.000 ms
  std::string_view const test_;
  std::shared_ptr<tracing::SpanPrefix> const prefix_of_spans_;  // null: all fields in every line
  std::shared_ptr<tracing::Registry> registry_;                 // that the lines are made in
  std::string text_;
  std::string prefix_;
  LabelledFormat::Replaying replaying_;
  std::size_t next_line_ = 0;
  std::uint64_t left_out_records_ = 0, left_out_failures_ = 0;  // since the last line
  bool has_records_ = false;                                    // the text tells of records
};

}}  // namespace testlog::v1
