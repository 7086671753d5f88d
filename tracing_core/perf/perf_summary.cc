#include "tracing_core/perf/perf_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "tracing_core/format/duration_text.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/perf/perf_json.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 {
namespace {

// Returns a name without characters that would move the terminal's cursor.
std::string shown_name(std::string_view name) {
  InlineTextBuffer<128> safe;
  append_sanitized(safe, name);
  std::string text(safe.view());
  for (char& c : text) c = c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return text;
}

std::string duration_text(std::uint64_t ns) {
  InlineTextBuffer<32> text;
  append_duration(text, ns);
  return std::string(text.view());
}

// ---- Prometheus ----

// Appends nanoseconds as seconds: `0.000083`, `2.5`, `0`.
std::string seconds(std::uint64_t ns) {
  std::string text = fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Appends `name="cpu_ldg"`, with backslashes, quotes and line ends escaped.
std::string label(std::string_view name) {
  std::string text = "name=\"";
  for (char const c : name) {
    if (c == '\\' || c == '"' || c == '\n') text += '\\';
    text += c == '\n' ? 'n' : c;
  }
  return text += '"';
}

void append_head(TextBuffer& out, std::string_view family, std::string_view type, std::string_view help) {
  out.append(fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", family, help, type));
}

template <class F>
void append_family(TextBuffer& out, PerfSummary const& summary, std::string_view family, std::string_view type,
                   std::string_view help, F&& value_of) {
  append_head(out, family, type, help);
  for (PerfRow const& row : summary.rows)
    out.append(fmt::format("{}{{{}}} {}\n", family, label(row.name), value_of(row)));
}

}  // namespace

namespace internal {

void sort_and_set_shares(PerfSummary& summary) {
  std::uint64_t all = 0;
  for (PerfRow const& row : summary.rows) all += row.self_ns;
  for (PerfRow& row : summary.rows)
    row.share = all == 0 ? 0 : static_cast<double>(row.self_ns) / static_cast<double>(all);
  std::sort(summary.rows.begin(), summary.rows.end(), [](PerfRow const& a, PerfRow const& b) {
    return a.self_ns != b.self_ns ? a.self_ns > b.self_ns : a.name < b.name;
  });
}

}  // namespace internal

std::uint64_t PerfRow::quantile_ns(double q) const noexcept {
  if (durations == nullptr || count == 0) return min_ns;
  return std::clamp(durations->quantile(q), min_ns, std::max(min_ns, max_ns));
}

PerfRow const* PerfSummary::find(std::string_view name) const noexcept {
  auto const found = std::find_if(rows.begin(), rows.end(), [name](PerfRow const& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

PerfSummary PerfSummary::since(PerfSummary const& earlier) const {
  PerfSummary result;
  for (PerfRow const& row : rows) {
    PerfRow const* const before = earlier.find(row.name);
    if (before == nullptr) {
      result.rows.push_back(row);
      continue;
    }
    if (row.count <= before->count) continue;
    auto durations = std::make_shared<DurationSketch>();
    durations->merge(*row.durations);
    durations->subtract(*before->durations);
    PerfRow left = row;
    left.count -= before->count;
    left.total_ns -= std::min(before->total_ns, left.total_ns);
    left.self_ns -= std::min(before->self_ns, left.self_ns);
    if (row.min_ns == before->min_ns) left.min_ns = std::max(row.min_ns, durations->quantile(0));
    if (row.max_ns == before->max_ns) left.max_ns = std::min(row.max_ns, durations->quantile(1));
    left.max_ns = std::max(left.max_ns, left.min_ns);
    left.durations = std::move(durations);
    result.rows.push_back(std::move(left));
  }
  internal::sort_and_set_shares(result);
  return result;
}

void append_perf_table(TextBuffer& out, PerfSummary const& summary) {
  if (summary.empty()) return;
  std::vector<std::string> names;
  std::size_t width = 4;
  for (PerfRow const& row : summary.rows) {
    names.push_back(shown_name(row.name));
    width = std::max(width, support::count_characters(names.back()));
  }
  out.append("name");
  out.append(width - 4, ' ');
  for (std::string_view const title : {"count", "total", "self", "min", "p50", "p95", "p99", "max"})
    out.append(fmt::format(" {:>9}", title));
  out.append("  share\n");
  for (std::size_t i = 0; i < names.size(); ++i) {
    PerfRow const& row = summary.rows[i];
    out.append(names[i]);
    out.append(width - support::count_characters(names[i]), ' ');
    out.append(fmt::format(" {:>9}", row.count));
    for (std::uint64_t const ns : {row.total_ns, row.self_ns, row.min_ns, row.quantile_ns(0.5), row.quantile_ns(0.95),
                                   row.quantile_ns(0.99), row.max_ns})
      out.append(fmt::format(" {:>9}", duration_text(ns)));
    out.append(fmt::format(" {:5.1f}%\n", row.share * 100));
  }
}

void append_perf_prometheus(TextBuffer& out, PerfSummary const& summary) {
  constexpr std::string_view kSpans = "tracing_perf_span_seconds";
  append_head(out, kSpans, "summary", "Durations of perf spans.");
  for (PerfRow const& row : summary.rows) {
    std::string const name = label(row.name);
    for (double const q : {0.5, 0.95, 0.99})
      out.append(fmt::format("{}{{{},quantile=\"{}\"}} {}\n", kSpans, name, q, seconds(row.quantile_ns(q))));
    out.append(fmt::format("{}_sum{{{}}} {}\n", kSpans, name, seconds(row.total_ns)));
    out.append(fmt::format("{}_count{{{}}} {}\n", kSpans, name, row.count));
  }
  append_family(out, summary, "tracing_perf_span_self_seconds_total", "counter",
                "Time in perf spans without perf spans inside of them.",
                [](PerfRow const& row) { return seconds(row.self_ns); });
  append_family(out, summary, "tracing_perf_span_min_seconds", "gauge", "The shortest perf span.",
                [](PerfRow const& row) { return seconds(row.min_ns); });
  append_family(out, summary, "tracing_perf_span_max_seconds", "gauge", "The longest perf span.",
                [](PerfRow const& row) { return seconds(row.max_ns); });
  append_family(out, summary, "tracing_perf_span_share_ratio", "gauge", "Share of the self time of all perf spans.",
                [](PerfRow const& row) {
                  InlineTextBuffer<32> text;
                  append_json_float(text, row.share);
                  return std::string(text.view());
                });
}

void append_perf_json(TextBuffer& out, PerfSummary const& summary, Instant time) {
  auto const append_us = [&out](std::string_view key, std::uint64_t ns) {
    out.append(key);
    append_json_float(out, static_cast<double>(ns) / 1000);
  };
  for (PerfRow const& row : summary.rows) {
    internal::begin_perf_object(out, time, Level::info, "performance_summary");
    out.append(",\"name\":");
    formatting::append_json_text(out, row.name);
    out.append(",\"count\":");
    out.append_uint(row.count);
    append_us(",\"total_us\":", row.total_ns);
    append_us(",\"self_us\":", row.self_ns);
    append_us(",\"min_us\":", row.min_ns);
    append_us(",\"p50_us\":", row.quantile_ns(0.5));
    append_us(",\"p95_us\":", row.quantile_ns(0.95));
    append_us(",\"p99_us\":", row.quantile_ns(0.99));
    append_us(",\"max_us\":", row.max_ns);
    out.append(",\"share\":");
    append_json_float(out, row.share);
    out.append("}}\n");
  }
}

}}  // namespace tracing::v1
