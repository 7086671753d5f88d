#include "tracing_core/perf/perf_layer.h"

#include <cerrno>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/export/print/line_buffer.h"
#include "tracing_core/export/print/short_event.h"
#include "tracing_core/filter/env_filter.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/perf/perf_json.h"
#include "tracing_core/perf/perf_statistics.h"
#include "tracing_core/support/fork.h"

namespace tracing { inline namespace v1 {
namespace {

using internal::PerfCell;
using internal::PerfTable;

// The metadata that the writer gets with JSON lines.
constexpr char kLineText[] = "perftracing::perf";
constexpr Metadata kLine([] {
  internal::MetadataParts parts;
  parts.text = kLineText;
  parts.name_size = 4;
  parts.target_size = sizeof(kLineText) - 1 - parts.name_size;
  parts.level = Level::info;
  return parts;
}());

class Collector final : public Layer {
 public:
  Collector(PerfOptions options, std::shared_ptr<PerfTable> table, internal::AppendPerfMembers append_members)
      : table_(std::move(table)),
        append_members_(std::move(append_members)),
        json_(std::move(options.json)),
        threshold_ns_(options.threshold.count() > 0 ? static_cast<std::uint64_t>(options.threshold.count()) : 0),
        reports_(options.report) {}

  Hooks hooks() const noexcept override { return json_ != nullptr ? Hooks::timed | Hooks::event : Hooks::timed; }

  void on_timed(SpanRef span, Timing const& timing, Context const& context) noexcept override {
    Metadata const& metadata = span.metadata();
    if (!metadata.is_perf() || metadata.parts().owned) [[unlikely]]
      return;
    PerfCell* const cell = table_->cell(metadata, context.track());
    if (cell == nullptr) [[unlikely]]
      return;
    cell->add(timing);
    if (!reports_) return;
    std::uint64_t const threshold = timing.threshold_ns != Timing::kNoThreshold ? timing.threshold_ns : threshold_ns_;
    if (timing.duration_ns >= threshold) report(span, timing.duration_ns, *cell, context);
  }

  void on_event(Event const& event, Context const& context) noexcept override {
    if (!event.metadata().is_perf() || context.is_restored() || internal::is_shorter(event, threshold_ns_)) return;
    write_line([&](TextBuffer& line) {
      internal::append_perf_event(line, event, context.time());
      if (append_members_) append_members_(line, context.event_span(event), context.track());
    });
  }

  void flush() noexcept override {
    if (json_ != nullptr && !is_in_forked_child()) json_->flush();
  }

 private:
  // Emits an event inside the span, for the other layers that see the span, and a line of JSON.
  void report(SpanRef span, std::uint64_t duration_ns, PerfCell const& cell, Context const& context) noexcept {
    std::uint64_t const us = duration_ns / 1000;
    Value const values[] = {Value::of_u64(us), Value::of_f64(static_cast<double>(us) / 1000)};
    context.registry().event(Event{FieldValues(*cell.completion, values), {}, span.layers() & ~span.mask(), {}});
    if (json_ == nullptr) [[likely]]
      return;
    write_line([&](TextBuffer& line) {
      internal::append_perf_span(line, span, duration_ns, context.time());
      if (append_members_) append_members_(line, span, context.track());
    });
  }

  template <class F>
  void write_line(F&& append) noexcept {
    if (is_in_forked_child()) return;  // the file belongs to the parent
    internal::LineBuffer line;
    if (!line) return;
    append(*line);
    if (line->truncated()) return;
    int const saved = errno;
    json_->write({kLine, line->view(), {}});
    errno = saved;
  }

  bool is_in_forked_child() const noexcept { return support::fork_count() != forks_when_made_; }

  std::shared_ptr<PerfTable> const table_;
  internal::AppendPerfMembers const append_members_;  // may be empty
  WriterPtr const json_;
  std::uint64_t const threshold_ns_;
  bool const reports_;
  unsigned const forks_when_made_ = support::fork_count();
};

}  // namespace

PerfLayer internal::perf_layer(PerfOptions options, std::shared_ptr<PerfTable> table, std::vector<ParseError>* errors,
                               AppendPerfMembers append_members) {
  EnvFilter selection = EnvFilter::parse_lossy(options.directives, {}, errors);
  auto const role = options.report ? PerfRole::registry : PerfRole::layer;
  bool const events = options.report || options.json != nullptr;  // sums have no use for events
  PerfLayer made;
  made.layer = std::make_unique<Collector>(std::move(options), table, std::move(append_members));
  made.filter = perf_filter(std::move(selection), role, events);
  made.statistics = std::move(table);
  return made;
}

PerfLayer perf_layer(PerfOptions options, std::vector<ParseError>* errors) {
  return internal::perf_layer(std::move(options), std::make_shared<PerfTable>(), errors);
}

}}  // namespace tracing::v1
