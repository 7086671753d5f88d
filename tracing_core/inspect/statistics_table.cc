// append_statistics_table(): writes Statistics as tables.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/format/amounts.h"
#include "tracing_core/inspect/statistics.h"
#include "tracing_core/model/text_escape.h"

namespace tracing { inline namespace v1 {
namespace {

using formatting::text_of_bytes;
using formatting::text_of_ns;
using formatting::text_of_partial;

void append_title(TextBuffer& out, std::string_view title, bool ansi) {
  out.append(fmt::format("{}{}{}\n", ansi ? "\x1b[1m" : "", title, ansi ? "\x1b[0m" : ""));
}

// Aligns the cells of its rows to the right, except the last: a name, which may be long, is aligned to the left.
class Table {
 public:
  Table(std::string_view title, std::initializer_list<std::string> names) : title_(title) { add(names); }

  void add(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
    rows_.push_back(std::move(cells));
  }

  // `left_out`: how many rows are not shown.
  void append_to(TextBuffer& out, std::size_t left_out, bool ansi) const {
    append_title(out, title_, ansi);
    for (auto const& row : rows_) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i)
        out.append(fmt::format("{:>{}}  ", row[i], widths_[i] + (i == 0)));
      out.append(fmt::format("{}\n", row.back()));
    }
    if (left_out > 0) out.append(fmt::format(" ... {} more\n", left_out));
  }

 private:
  std::string_view title_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

class Printer {
 public:
  Printer(TextBuffer& out, StatisticsTableOptions const& options) : out_(out), options_(options) {}

  void add(StatisticsGroup const& group, bool has_name) {
    if (has_name) {
      begin_paragraph();
      append_title(out_, fmt::format("---- {} ----", sanitized_in_line(group.name)), options_.ansi);
      is_first_ = true;  // no blank line before the group's first table
    }
    add_rows(group.spans,
             Table("Spans", {"total", "self", "share", "calls", "mean", "min", "p50", "p95", "max", "span"}),
             cells_of_span);
    add_rows(group.kernels,
             Table("Kernels and copies", {"total", "calls", "mean", "min", "max", "grid", "block", "shared",
                                          "registers", "bytes", "GB/s", "name"}),
             cells_of_kernel);
    add_rows(group.compiles, Table("Compilations", {"total", "misses", "hits", "kernel"}), cells_of_compile);
    add_rows(group.memory, Table("Device memory", {"peak", "allocated", "allocations", "not freed", "memory", "span"}),
             cells_of_memory);
  }

 private:
  using Cells = std::vector<std::string>;

  static Cells cells_of_span(SpanStatistics const& row) {
    DurationStatistics const& time = row.time;
    return {text_of_ns(time.total_ns),
            text_of_ns(row.self_ns),
            fmt::format("{:.1f}%", row.share * 100),
            fmt::format("{}", time.calls),
            text_of_ns(time.mean_ns),
            text_of_ns(time.min_ns),
            text_of_ns(time.p50_ns),
            text_of_ns(time.p95_ns),
            text_of_ns(time.max_ns),
            sanitized_in_line(row.name) + text_of_partial(row.open, row.cut)};
  }
  static Cells cells_of_kernel(KernelStatistics const& row) {
    auto const time = [&row](std::uint64_t ns) { return row.is_timed ? text_of_ns(ns) : "-"; };
    auto const or_none = [](std::string text) { return text.empty() ? "-" : text; };
    return {time(row.time.total_ns),
            fmt::format("{}", row.time.calls),
            time(row.time.mean_ns),
            time(row.time.min_ns),
            time(row.time.max_ns),
            or_none(sanitized_in_line(row.grid)),
            or_none(sanitized_in_line(row.block)),
            row.shared_bytes ? text_of_bytes(*row.shared_bytes) : "-",
            row.registers ? fmt::format("{}", *row.registers) : "-",
            row.bytes != 0 ? text_of_bytes(row.bytes) : "-",
            row.bytes != 0 && row.is_timed ? fmt::format("{:.2f}", row.gb_per_s()) : "-",
            sanitized_in_line(row.name)};
  }
  static Cells cells_of_compile(CompileStatistics const& row) {
    return {text_of_ns(row.total_ns), fmt::format("{}", row.misses), fmt::format("{}", row.hits),
            sanitized_in_line(row.name)};
  }
  static Cells cells_of_memory(MemoryStatistics const& row) {
    return {text_of_bytes(row.peak_bytes),      text_of_bytes(row.bytes),
            fmt::format("{}", row.allocations), text_of_bytes(row.kept_bytes),
            sanitized_in_line(row.memory),      row.span.empty() ? "all" : sanitized_in_line(row.span)};
  }

  template <class Row>
  void add_rows(std::vector<Row> const& rows, Table table, Cells (*cells_of)(Row const&)) {
    if (rows.empty()) return;
    std::size_t const shown = options_.max_rows == 0 ? rows.size() : std::min(options_.max_rows, rows.size());
    for (std::size_t i = 0; i < shown; ++i) table.add(cells_of(rows[i]));
    begin_paragraph();
    table.append_to(out_, rows.size() - shown, options_.ansi);
  }
  void begin_paragraph() {
    if (!is_first_) out_.push_back('\n');
    is_first_ = false;
  }

  TextBuffer& out_;
  StatisticsTableOptions const options_;
  bool is_first_ = true;
};

}  // namespace

void append_statistics_table(TextBuffer& out, Statistics const& statistics, StatisticsTableOptions const& options) {
  Printer printer(out, options);
  for (StatisticsGroup const& group : statistics.groups) printer.add(group, statistics.by != StatisticsBy::all);
}

}}  // namespace tracing::v1
