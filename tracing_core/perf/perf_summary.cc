#include "tracing_core/perf/perf_summary.h"

#include <algorithm>
#include <array>

#include "tracing_core/format/datetime.h"
#include "tracing_core/format/duration_text.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/perf/perf_json.h"
#include "tracing_core/perf/perf_statistics.h"

namespace tracing::inline v1 {
namespace {

std::size_t count_characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

constexpr std::size_t kColumnWidth = 9;

void append_right(TextBuffer& out, std::string_view text, std::size_t width) noexcept {
  std::size_t const size = count_characters(text);
  if (size < width) out.append(width - size, ' ');
  out.append(text);
}

void append_left(TextBuffer& out, std::string_view text, std::size_t width) noexcept {
  out.append(text);
  std::size_t const size = count_characters(text);
  if (size < width) out.append(width - size, ' ');
}

// A name without characters that would move the terminal's cursor.
std::string shown_name(std::string_view name) {
  InlineTextBuffer<128> safe;
  append_sanitized(safe, name);
  std::string text(safe.view());
  for (char& c : text) c = c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return text;
}

void append_duration_column(TextBuffer& out, std::uint64_t ns) noexcept {
  InlineTextBuffer<32> text;
  append_duration(text, ns);
  out.push_back(' ');
  append_right(out, text.view(), kColumnWidth);
}

// `62.5%`, rounded.
void append_share(TextBuffer& out, double share) noexcept {
  auto const tenths = static_cast<std::uint64_t>(share * 1000 + 0.5);
  InlineTextBuffer<32> text;
  text.append_uint(tenths / 10);
  text.push_back('.');
  text.append_uint(tenths % 10);
  text.push_back('%');
  out.push_back(' ');
  append_right(out, text.view(), 6);
}

constexpr std::array kQuantiles{0.5, 0.95, 0.99};
constexpr std::array<std::string_view, 3> kQuantileTexts{"0.5", "0.95", "0.99"};

// ---- Prometheus ----

// Nanoseconds as seconds: `0.000083`, `2.5`, `0`.
void append_seconds(TextBuffer& out, std::uint64_t ns) noexcept {
  out.append_uint(ns / 1'000'000'000);
  std::uint64_t left = ns % 1'000'000'000;
  if (left == 0) return;
  char digits[9];
  for (std::size_t i = 9; i > 0; left /= 10) digits[--i] = static_cast<char>('0' + left % 10);
  std::size_t size = 9;
  while (digits[size - 1] == '0') --size;
  out.push_back('.');
  out.append({digits, size});
}

// `{name="cpu_ldg"`, with backslashes, quotes and line ends escaped.
void append_label(TextBuffer& out, std::string_view name) noexcept {
  out.append("{name=\"");
  for (char const c : name) {
    if (c == '\\' || c == '"' || c == '\n') out.push_back('\\');
    out.push_back(c == '\n' ? 'n' : c);
  }
  out.push_back('"');
}

void append_family(TextBuffer& out, std::string_view name, std::string_view type, std::string_view help) noexcept {
  using View = std::string_view;
  for (View const piece : {View("# HELP "), name, View(" "), help, View("\n# TYPE "), name, View(" "), type, View("\n")})
    out.append(piece);
}

// `<metric>{name="..."} `
void append_sample(TextBuffer& out, std::string_view metric, PerfRow const& row) noexcept {
  out.append(metric);
  append_label(out, row.name);
  out.append("} ");
}

template <class F>
void append_simple_family(TextBuffer& out, PerfSummary const& summary, std::string_view name, std::string_view type,
                          std::string_view help, F&& append_value) noexcept {
  append_family(out, name, type, help);
  for (PerfRow const& row : summary.rows) {
    append_sample(out, name, row);
    append_value(row);
    out.push_back('\n');
  }
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
    width = std::max(width, count_characters(names.back()));
  }
  append_left(out, "name", width);
  out.push_back(' ');
  append_right(out, "count", kColumnWidth);
  for (std::string_view const title : {"total", "self", "min", "p50", "p95", "p99", "max"}) {
    out.push_back(' ');
    append_right(out, title, kColumnWidth);
  }
  out.append("  share\n");
  for (std::size_t i = 0; i < names.size(); ++i) {
    PerfRow const& row = summary.rows[i];
    InlineTextBuffer<32> count;
    count.append_uint(row.count);
    append_left(out, names[i], width);
    out.push_back(' ');
    append_right(out, count.view(), kColumnWidth);
    for (std::uint64_t const ns : {row.total_ns, row.self_ns, row.min_ns}) append_duration_column(out, ns);
    for (double const q : kQuantiles) append_duration_column(out, row.quantile_ns(q));
    append_duration_column(out, row.max_ns);
    append_share(out, row.share);
    out.push_back('\n');
  }
}

void append_perf_prometheus(TextBuffer& out, PerfSummary const& summary) {
  constexpr std::string_view kSpans = "tracing_perf_span_seconds";
  append_family(out, kSpans, "summary", "Durations of perf spans.");
  for (PerfRow const& row : summary.rows) {
    for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
      out.append(kSpans);
      append_label(out, row.name);
      out.append(",quantile=\"");
      out.append(kQuantileTexts[i]);
      out.append("\"} ");
      append_seconds(out, row.quantile_ns(kQuantiles[i]));
      out.push_back('\n');
    }
    append_sample(out, "tracing_perf_span_seconds_sum", row);
    append_seconds(out, row.total_ns);
    out.push_back('\n');
    append_sample(out, "tracing_perf_span_seconds_count", row);
    out.append_uint(row.count);
    out.push_back('\n');
  }
  append_simple_family(out, summary, "tracing_perf_span_self_seconds_total", "counter",
                       "Time in perf spans without perf spans inside of them.",
                       [&](PerfRow const& row) { append_seconds(out, row.self_ns); });
  append_simple_family(out, summary, "tracing_perf_span_min_seconds", "gauge", "The shortest perf span.",
                       [&](PerfRow const& row) { append_seconds(out, row.min_ns); });
  append_simple_family(out, summary, "tracing_perf_span_max_seconds", "gauge", "The longest perf span.",
                       [&](PerfRow const& row) { append_seconds(out, row.max_ns); });
  append_simple_family(out, summary, "tracing_perf_span_share_ratio", "gauge",
                       "Share of the self time of all perf spans.",
                       [&](PerfRow const& row) { append_json_float(out, row.share); });
}

void append_perf_json(TextBuffer& out, PerfSummary const& summary, Instant time) {
  auto const append_us = [&out](std::string_view key, std::uint64_t ns) {
    out.append(key);
    append_json_float(out, static_cast<double>(ns) / 1000);
  };
  for (PerfRow const& row : summary.rows) {
    internal::begin_perf_object(out, time, Level::info, "performance_summary");
    out.append(",\"name\":");
    internal::append_json_text(out, row.name);
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

}  // namespace tracing::inline v1
