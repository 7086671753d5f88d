#include "testlog/story.h"

#include <string>

#include "testlog/labels.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/export/print.h"
#include "tracing_core/perf/perf_filter.h"

namespace testlog::inline v1 {
namespace {

// A registry that prints into `out` what is fed to it and `filter` lets pass, as the live one prints.
std::shared_ptr<tracing::Registry> printing_registry(Session const& session, std::unique_ptr<tracing::Filter> filter, std::string& out) {
  auto sink = tracing::make_sink([&out](tracing::Level, std::string_view line) { out += line; });
  return tracing::RegistryBuilder()
      .with(tracing::print_layer(session.print_options(tracing::to_sink(std::move(sink)))),
            tracing::with_perf_spans(std::move(filter)))
      .build();
}

}  // namespace

template <class Select>
void Story::tell(std::string_view headline, std::unique_ptr<tracing::Filter> filter, Select&& select) {
  tracing::RecordRing* const ring = session_.ring();
  if (ring == nullptr || session_.is_mute()) return;
  tracing::RecordSnapshot const records = ring->snapshot(session_.first_untold_record());
  Attribution const& attribution = session_.attribution();
  TestTag const running = attribution.running();
  std::string lines;
  {
    LabelledFormat::Replaying replaying;
    auto const registry = printing_registry(session_, std::move(filter), lines);
    records.replay(*registry, [&](tracing::RecordView const& record) -> bool {
      if (!select(record)) return false;
      replaying.set_label(label(attribution.owner_of(record), running, attribution));
      return true;
    });
  }
  bool const lost = records.first_number() > session_.first_untold_record();
  session_.set_first_untold_record(ring->next_number());
  if (lines.empty()) return;
  std::string block;
  if (!headline.empty()) block.append("---- ").append(headline).append(" ----\n");
  if (lost) block += "---- earlier records are gone: the ring was full ----\n";
  block += lines;
  if (!headline.empty()) block += "---- end of what it recorded ----\n";
  session_.output().write(block);
}

void Story::tell_unshown(std::string_view headline) {
  bool const live = session_.environment().show == Show::live;
  tell(headline, nullptr, [live](tracing::RecordView const& record) { return !live || !Session::was_selected(record.verdict); });
}

void Story::tell_selected() {
  TestTag const running = session_.attribution().running();
  std::vector<tracing::ParseError> ignored;
  // The filter once more, since it decides about the spans around a record too.
  auto filter = std::make_unique<tracing::EnvFilter>(tracing::EnvFilter::parse_lossy(session_.show_filter()->directives(), {}, &ignored));
  tell({}, std::move(filter), [running](tracing::RecordView const& record) {
    return Session::was_selected(record.verdict) && (running == 0 || record.tag == 0 || record.tag == running);
  });
}

void Story::skip() noexcept {
  if (tracing::RecordRing const* const ring = session_.ring()) session_.set_first_untold_record(ring->next_number());
}

}  // namespace testlog::inline v1
