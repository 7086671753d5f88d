// ReportPrinter: prints the lines of a failure report that were chosen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "testlog/labels.h"
#include "testlog/report_lines.h"
#include "testlog/report_walk.h"
#include "testlog/session.h"
#include "tracing_core/record/reader.h"

namespace testlog::inline v1 {

/// What a first walk over the records finds out for the second, which prints.
struct ReportPlan {
  explicit ReportPlan(std::size_t limit) noexcept : lines(limit) {}

  void add(ReportLines::Kind kind, std::uint64_t ticks, std::uint64_t track) {
    if (first_ticks == 0) first_ticks = ticks, first_track = track;
    has_threads |= track != first_track;
    lines.add(kind);
  }

  ReportLines lines;
  bool misses_any = false;   ///< whether a record was not shown as it happened with all spans around it
  bool has_threads = false;  ///< whether there are lines of more than one
  std::uint64_t first_ticks = 0;
  std::uint64_t first_track = 0;
};

/// A registry that prints the records that `filter` selects.
std::shared_ptr<tracing::Registry> printing_registry(tracing::PrintOptions options,
                                                     std::unique_ptr<tracing::Filter> filter);

/// Keeps about a megabyte of text at most. Single-thread.
class ReportPrinter {
 public:
  /// `begin` is the text before the first line.
  ReportPrinter(Session& session, ReportPlan const& plan, std::string begin);

  /// Prints the lines that `walk` meets in `recording`. If none of a record has text, prints nothing and returns false.
  bool print(tracing::internal::Recording& recording, ReportWalk walk);
  /// The text after the last line.
  void end(std::string_view text);

 private:
  bool follow(tracing::internal::RecordEntry const& entry, ReportWalk& walk);
  void print_failure(NotedFailure const& failure);
  bool begin_line(std::uint64_t& left_out);
  void print_gap();
  std::string prefix_at(std::uint64_t ticks) const;
  // In `pretty` an empty line follows each record.
  std::string_view line_end() const noexcept {
    return session_.environment().format == tracing::FormatKind::pretty ? "\n\n" : "\n";
  }
  void flush_if_large();

  static constexpr std::size_t kFlushBytes = 1 << 20;

  Session& session_;
  ReportPlan const& plan_;
  ThreadLabels const threads_;
  bool const has_times_;
  std::uint64_t const zero_;  // the place of +0.000 ms
  std::string_view const test_;
  std::string text_;
  std::string prefix_;
  LabelledFormat::Replaying replaying_;
  std::size_t next_line_ = 0;
  std::uint64_t left_out_records_ = 0, left_out_failures_ = 0;  // since the last line
  bool has_records_ = false;  // whether the text says something of them
};

}  // namespace testlog::inline v1
