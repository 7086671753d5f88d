#include "testlog/story.h"

#include <string>

#include "testlog/labels.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/perf/perf_filter.h"

namespace testlog::inline v1 {
namespace {

// A registry that prints into `out` what is fed to it and `filter` lets pass, as the live one prints.
std::shared_ptr<tracing::Registry> printing_registry(Session const& session, std::unique_ptr<tracing::Filter> filter,
                                                     std::string& out) {
  auto sink = tracing::make_sink([&out](tracing::Level, std::string_view line) { out += line; });
  return tracing::RegistryBuilder()
      .with(tracing::print_layer(session.print_options(tracing::to_sink(std::move(sink)))),
            tracing::with_perf_spans(std::move(filter)))
      .build();
}

}  // namespace

template <class Select>
std::string Story::lines_of(tracing::RecordSnapshot const& records, std::unique_ptr<tracing::Filter> filter,
                            Select&& select) const {
  Attribution const& attribution = session_.attribution();
  TestTag const running = attribution.running();
  std::string lines;
  LabelledFormat::Replaying replaying;
  auto const registry = printing_registry(session_, std::move(filter), lines);
  records.replay(*registry, [&](tracing::RecordView const& record) -> bool {
    if (!session_.untold().contains(record.number) || !select(record)) return false;
    replaying.set_label(label(attribution.owner_of(record), running, attribution));
    return true;
  });
  return lines;
}

template <class Select>
void Story::tell(Headline headline, std::uint64_t from, std::unique_ptr<tracing::Filter> filter, Select&& select) {
  if (session_.is_mute()) return;
  tracing::RecordSnapshot const records =
      session_.ring() == nullptr ? tracing::RecordSnapshot() : session_.ring()->snapshot(from);
  std::string const lines = lines_of(records, std::move(filter), select);
  if (lines.empty() && !headline.is_news) return;
  std::uint64_t const from_tests = session_.untold().first_of_tests();
  std::string block;
  if (!headline.text.empty()) block.append("---- ").append(headline.text).append(" ----\n");
  bool const lost_set_up = from < from_tests && records.first_number() > from;
  if (lost_set_up) block += "---- of what was recorded before the tests the earlier is gone: the ring was full ----\n";
  if (records.first_number() > from_tests) block += "---- earlier records are gone: the ring was full ----\n";
  block += lines;
  if (!headline.text.empty()) block += "---- end of what it recorded ----\n";
  session_.output().write(block);
}

void Story::tell_unshown(Headline headline) {
  Show const show = session_.environment().show;
  Untold& untold = session_.untold();
  tell(headline, untold.first(), nullptr, [&](tracing::RecordView const& record) {
    bool const was_printed = show == Show::live || (show == Show::all && record.number < untold.first_of_tests());
    return !was_printed || !Session::was_selected(record.verdict);
  });
  untold.tell_to(session_.next_record());
}

void Story::tell_selected() {
  TestTag const running = session_.attribution().running();
  std::vector<tracing::ParseError> ignored;
  // The filter once more, since it decides about the spans around a record too.
  auto filter = std::make_unique<tracing::EnvFilter>(
      tracing::EnvFilter::parse_lossy(session_.show_filter()->directives(), {}, &ignored));
  tell({}, session_.untold().first_of_tests(), std::move(filter), [running](tracing::RecordView const& record) {
    return Session::was_selected(record.verdict) && (running == 0 || record.tag == 0 || record.tag == running);
  });
  skip();
}

void Story::skip() noexcept { session_.untold().skip_to(session_.next_record()); }

}  // namespace testlog::inline v1
