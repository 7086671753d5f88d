// append_statistics_json(): writes Statistics as JSON.
#include <string_view>
#include <vector>

#include "tracing_core/format/json_value.h"
#include "tracing_core/inspect/statistics.h"

namespace tracing { inline namespace v1 {
namespace {

using formatting::append_json_text;

class Object {
 public:
  explicit Object(TextBuffer& out) : out_(out) { out_.push_back('{'); }
  Object(Object const&) = delete;
  Object& operator=(Object const&) = delete;
  ~Object() { out_.push_back('}'); }

  void add(std::string_view key, std::uint64_t value) { begin(key), out_.append_uint(value); }
  void add(std::string_view key, double value) { begin(key), append_json_float(out_, value); }
  void add(std::string_view key, std::string_view value) { begin(key), append_json_text(out_, value); }
  void add(std::string_view key, std::optional<std::uint64_t> value) {
    if (value) add(key, *value);
  }
  void add(DurationStatistics const& time) {
    add("total_ns", time.total_ns);
    add("mean_ns", time.mean_ns);
    add("min_ns", time.min_ns);
    add("p50_ns", time.p50_ns);
    add("p95_ns", time.p95_ns);
    add("max_ns", time.max_ns);
  }
  // Adds an array with each row on its own line.
  template <class Row>
  void add(std::string_view key, std::vector<Row> const& rows, void (*fill)(Object&, Row const&)) {
    begin(key);
    out_.push_back('[');
    for (Row const& row : rows) {
      out_.append(&row == rows.data() ? "\n" : ",\n");
      Object object(out_);
      fill(object, row);
    }
    out_.append(rows.empty() ? "]" : "\n]");
  }

 private:
  void begin(std::string_view key) {
    if (!is_empty_) out_.push_back(',');
    is_empty_ = false;
    append_json_text(out_, key);
    out_.push_back(':');
  }

  TextBuffer& out_;
  bool is_empty_ = true;
};

void fill_span(Object& object, SpanStatistics const& row) {
  object.add("name", row.name);
  object.add("calls", row.time.calls);
  object.add(row.time);
  object.add("self_ns", row.self_ns);
  object.add("share", row.share);
  object.add("open", row.open);
  object.add("cut", row.cut);
}

// Leaves out values that are not known.
void fill_kernel(Object& object, KernelStatistics const& row) {
  object.add("name", row.name);
  object.add("calls", row.time.calls);
  if (row.is_timed) object.add(row.time);
  if (!row.grid.empty()) object.add("grid", row.grid);
  if (!row.block.empty()) object.add("block", row.block);
  object.add("shared_bytes", row.shared_bytes);
  object.add("registers", row.registers);
  if (row.bytes == 0) return;
  object.add("bytes", row.bytes);
  if (row.is_timed) object.add("gb_per_s", row.gb_per_s());
}

void fill_compile(Object& object, CompileStatistics const& row) {
  object.add("name", row.name);
  object.add("misses", row.misses);
  object.add("hits", row.hits);
  object.add("total_ns", row.total_ns);
}

void fill_memory(Object& object, MemoryStatistics const& row) {
  object.add("memory", row.memory);
  object.add("span", row.span);
  object.add("allocations", row.allocations);
  object.add("bytes", row.bytes);
  object.add("peak_bytes", row.peak_bytes);
  object.add("kept_bytes", row.kept_bytes);
}

void fill_group(Object& object, StatisticsGroup const& group) {
  object.add("name", group.name);
  object.add("spans", group.spans, fill_span);
  object.add("kernels", group.kernels, fill_kernel);
  object.add("compiles", group.compiles, fill_compile);
  object.add("memory", group.memory, fill_memory);
}

std::string_view name_of(StatisticsBy by) noexcept {
  constexpr std::string_view kNames[] = {"all", "thread", "test", "target"};
  return kNames[static_cast<std::size_t>(by)];
}

}  // namespace

void append_statistics_json(TextBuffer& out, Statistics const& statistics) {
  {
    Object object(out);
    object.add("by", name_of(statistics.by));
    object.add("groups", statistics.groups, fill_group);
  }
  out.push_back('\n');
}

}}  // namespace tracing::v1
