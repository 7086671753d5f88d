#include "testlog/failure_report.h"

#include <cstdint>
#include <unordered_set>
#include <utility>

#include "testlog/labels.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/perf/perf_filter.h"

namespace testlog::inline v1 {
namespace {

using tracing::RecordKind;
using tracing::SpanEvents;

// A registry that prints the records that `filter` selects into `out`, in the format of the live output.
std::shared_ptr<tracing::Registry> printing_registry(LiveOutput const& live, std::unique_ptr<tracing::Filter> filter,
                                                     SpanEvents span_events, std::string& out) {
  auto sink = tracing::make_sink([&out](tracing::Level, std::string_view line) { out += line; });
  tracing::PrintOptions options = live.print_options(tracing::to_sink(std::move(sink)));
  options.span_events = span_events;
  return tracing::RegistryBuilder()
      .with(tracing::print_layer(std::move(options)), tracing::with_perf_spans(std::move(filter)))
      .build();
}

// The numbers of the spans that began and ended in `records` without an event or another span inside. Not perf spans,
// which report themselves.
std::unordered_set<std::uint64_t> silent_spans(tracing::RecordSnapshot const& records) {
  std::unordered_set<std::uint64_t> open, silent;
  records.for_each([&](tracing::RecordView const& record) {
    if (record.span == nullptr) return;
    if (record.kind == RecordKind::event) open.erase(record.span->number);
    if (record.kind == RecordKind::new_span) {
      if (record.span->parent != nullptr) open.erase(record.span->parent->number);
      if (!record.metadata().is_perf()) open.insert(record.span->number);
    }
    if (record.kind == RecordKind::close && open.erase(record.span->number) > 0) silent.insert(record.span->number);
  });
  return silent;
}

}  // namespace

template <class Select>
std::string FailureReport::lines_of(tracing::RecordSnapshot const& records, std::unique_ptr<tracing::Filter> filter,
                                    SpanEvents span_events, Select&& select) const {
  Attribution const& attribution = session_.attribution();
  std::string lines;
  LabelledFormat::Replaying replaying;
  auto const registry = printing_registry(session_.live(), std::move(filter), span_events, lines);
  records.replay(*registry, [&](tracing::RecordView const& record) -> bool {
    if (!session_.capture().unreported().contains(record.number) || !select(record)) return false;
    replaying.set_owner(attribution.owner_of(record));
    return true;
  });
  return lines;
}

tracing::RecordSnapshot FailureReport::records_from(std::uint64_t number) const {
  tracing::RecordRing const* const ring = session_.capture().ring();
  return ring == nullptr ? tracing::RecordSnapshot() : ring->snapshot(number);
}

// One line for each kind of record that the ring has overwritten since record number `from`.
std::string FailureReport::overwritten(tracing::RecordSnapshot const& records, std::uint64_t from) const {
  std::uint64_t const of_tests = session_.capture().unreported().first_of_tests();
  auto const note = [this](std::string_view text) { return session_.output().note("failure_report", {}, text); };
  std::string lines;
  if (from < of_tests && records.first_number() > from)
    lines += note("---- earlier set-up records were overwritten (ring full) ----\n");
  if (records.first_number() > of_tests) lines += note("---- earlier records were overwritten (ring full) ----\n");
  return lines;
}

void FailureReport::print_unreported(std::string_view headline, bool always) {
  UnreportedRecords& unreported = session_.capture().unreported();
  if (!session_.is_mute()) {
    Show const show = session_.environment().show;
    std::uint64_t const from = unreported.first();
    tracing::RecordSnapshot const records = records_from(from);
    SpanEvents const span_events = session_.environment().span_events;
    bool const adds_silent = span_events == SpanEvents::none;  // otherwise all spans have lines
    auto const silent = adds_silent ? silent_spans(records) : std::unordered_set<std::uint64_t>();
    auto const select = [&](tracing::RecordView const& record) {
      if (record.kind == RecordKind::close && adds_silent) return silent.contains(record.span->number);
      bool const is_shown = show == Show::live || (show == Show::all && record.number < unreported.first_of_tests());
      return !is_shown || !LiveOutput::was_selected(record.mask);
    };
    std::string const lines = lines_of(records, nullptr, adds_silent ? SpanEvents::close : span_events, select);
    if (!lines.empty() || always) {
      Output& output = session_.output();
      std::string_view const test = session_.attribution().name_of(session_.attribution().running());
      tracing::InlineTextBuffer<256> first;
      first.append("---- ");
      tracing::append_sanitized_in_line(first, headline);
      first.append(": captured records not shown yet ----\n");
      output.write(output.note("failure_report", test, first.view()) + overwritten(records, from) + lines +
                   output.note("end_of_failure_report", test, "---- end of captured records ----\n"));
    }
  }
  unreported.report_to(session_.capture().next_record());
}

void FailureReport::print_matching(std::string_view test) {
  if (!session_.is_mute()) {
    TestTag const running = session_.attribution().running();
    std::uint64_t const from = session_.capture().unreported().first_of_tests();
    // Filters again, since the filter also decides which spans around a record are printed.
    auto filter = std::make_unique<tracing::EnvFilter>(tracing::internal::filter_of(session_.live().filter().directives()));
    tracing::RecordSnapshot const records = records_from(from);
    auto const select = [running](tracing::RecordView const& record) {
      return LiveOutput::was_selected(record.mask) && (running == 0 || record.tag == 0 || record.tag == running);
    };
    std::string const lines = lines_of(records, std::move(filter), session_.environment().span_events, select);
    if (!lines.empty()) {
      std::string const headline = "---- " + std::string(test) + " ----\n";
      Output& output = session_.output();
      output.write((test.empty() ? "" : output.note("test", test, headline)) + overwritten(records, from) + lines);
    }
  }
  skip();
}

void FailureReport::skip() noexcept { session_.capture().unreported().skip_to(session_.capture().next_record()); }

}  // namespace testlog::inline v1
