#include "testlog/report/report_printer.h"

#include <utility>

#include "testlog/capture/death_tests.h"
#include "tracing_core/environment/thread_labels.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/format/ansi.h"
#include "tracing_core/format/duration_text.h"
#include "tracing_core/format/span_path.h"
#include "tracing_core/perf/perf_filter.h"
#include "tracing_core/record/replay.h"
#include "tracing_core/support/short_text.h"
#include "tracing_core/support/span_clock.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::recording::Entry;
using tracing::support::counted;

// All lines name their thread if there are several threads.
ThreadLabels labels_of(ThreadLabels chosen, bool has_threads) noexcept {
  return chosen == ThreadLabels::automatic && has_threads ? ThreadLabels::on : chosen;
}

// Returns null if all lines have all fields.
std::shared_ptr<tracing::SpanPrefix> prefix_of(Environment const& environment) {
  bool const has_prefix =
      environment.report == ReportForm::shortened && environment.format == tracing::FormatKind::full;
  return has_prefix ? std::make_shared<tracing::SpanPrefix>() : nullptr;
}

// Returns the innermost span that the track is in; empty if it is in none.
tracing::SpanRef innermost_of(tracing::Registry const& registry, std::uint64_t track) {
  struct Search {
    std::uint64_t track;
    tracing::SpanRef found{};
  } search{track};
  registry.visit_all_tracks(
      [](void* context, tracing::Track const& visited, std::int64_t, tracing::SpanRef span) {
        auto& of = *static_cast<Search*>(context);
        if (visited.number == of.track) of.found = span;
      },
      &search);
  return search.found;
}

}  // namespace

std::shared_ptr<tracing::Registry> printing_registry(tracing::PrintOptions options,
                                                     std::unique_ptr<tracing::Filter> filter) {
  return tracing::RegistryBuilder()
      .with(tracing::print_layer(std::move(options)), tracing::with_perf_spans(std::move(filter)))
      .build();
}

ReportPrinter::ReportPrinter(ReportParts const& parts, ReportPlan const& plan, std::string begin, Write write)
    : parts_(parts),
      plan_(plan),
      write_(std::move(write)),
      threads_(labels_of(parts.environment.threads, plan.has_threads)),
      has_times_(parts.environment.time != tracing::TimeStyle::none &&
                 !tracing::formatting::is_json(parts.environment.format)),
      zero_(parts.attribution.running() == 0 ? plan.first_ticks : parts.capture.begin_of_test()),
      test_(parts.attribution.name_of(parts.attribution.running())),
      prefix_of_spans_(prefix_of(parts.environment)),
      text_(std::move(begin)),
      replaying_(threads_) {}

bool ReportPrinter::print(tracing::recording::Recording& recording, ReportWalk walk) {
  auto sink = tracing::make_sink([this](tracing::Level, std::string_view line) {
    text_ += line;
    has_records_ = true;
  });
  tracing::PrintOptions options = parts_.live.report_options(tracing::to_sink(std::move(sink)), prefix_of_spans_);
  options.span_events = ReportWalk::printed_events(options.span_events);
  registry_ = printing_registry(std::move(options), nullptr);
  tracing::recording::replay(recording, *registry_, [&](Entry const& entry) { return follow(entry, walk); });
  walk.finish([this](NotedFailure const& failure) { print_failure(failure); });
  print_gap();
  return has_records_;
}

void ReportPrinter::end(std::string_view text) {
  text_ += text;
  write_(text_);
}

// Prepares the line of the entry; the caller makes the line afterwards.
bool ReportPrinter::follow(Entry const& entry, ReportWalk& walk) {
  bool const has_line = walk.follow(entry, [this](NotedFailure const& failure) { print_failure(failure); });
  if (!has_line || !begin_line(left_out_records_)) return false;
  bool const is_of_child = DeathTests::has_track(entry.track);
  prefix_ = is_of_child ? prefix_after(entry.time.ns - parts_.capture.time_of_test().ns) : prefix_at(entry.ticks);
  replaying_.set_prefix(prefix_);
  replaying_.set_owner(parts_.attribution.owner_of(entry, walk.span()));
  return true;
}

void ReportPrinter::print_failure(NotedFailure const& failure) {
  if (!begin_line(left_out_failures_)) return;
  tracing::InlineTextBuffer<512> line;
  line.append(prefix_at(failure.ticks));
  tracing::Track const track = failure.track();
  if (failure.owner.late) append_owner(line, parts_.attribution, failure.owner);
  if (names_thread(threads_, track, parts_.attribution)) tracing::environment::append_thread_label(line, track);
  if (prefix_of_spans_ != nullptr) prefix_of_spans_->begin_line(line);
  tracing::formatting::append_painted(line, parts_.live.is_coloured(),
                                      tracing::formatting::level_color(tracing::Level::error), " FAIL ");
  append_path(line, failure);
  line.append(failure.text);
  line.append(line_end());
  if (prefix_of_spans_ != nullptr) prefix_of_spans_->end_line(line, 0);
  text_ += parts_.output.note("failure", test_, line.view(), &track);
}

// Appends the spans as the lines of the thread have them; as they were noted if the thread is no longer in them,
// because an exception left them.
void ReportPrinter::append_path(tracing::TextBuffer& out, NotedFailure const& failure) const {
  if (failure.path.empty()) return;
  tracing::SpanRef const leaf = innermost_of(*registry_, failure.thread);
  tracing::InlineTextBuffer<256> path;
  append_span_path(path, leaf);
  if (path.view() == failure.path) {
    append_span_path(out, leaf, prefix_of_spans_.get());
  } else {
    out.append(failure.path);
  }
  out.append(": ");
}

bool ReportPrinter::begin_line(std::uint64_t& left_out) {
  if (!plan_.lines.keeps(next_line_++)) {
    ++left_out;
    has_records_ = true;  // the note of the gap counts them
    return false;
  }
  print_gap();
  flush_if_large();
  return true;
}

void ReportPrinter::print_gap() {
  std::uint64_t const records = std::exchange(left_out_records_, 0);
  std::uint64_t const failures = std::exchange(left_out_failures_, 0);
  if (records + failures == 0) return;
  std::string const what = failures == 0  ? counted(records, "record")
                           : records == 0 ? counted(failures, "failure")
                                          : counted(records, "record") + " and " + counted(failures, "failure");
  std::string const& path = parts_.recording_file.path();
  std::string const where = path.empty()    ? "TRACE_REPORT_LINES=0 prints all"
                            : test_.empty() ? "testlog show " + path
                                            : "testlog show --test " + std::string(test_) + " " + path;
  text_ += parts_.output.note("left_out", test_, "... " + what + " left out; " + where + std::string(line_end()));
}

std::string ReportPrinter::prefix_at(std::uint64_t ticks) const {
  auto const ns = [](std::uint64_t from, std::uint64_t to) {
    return static_cast<std::int64_t>(tracing::support::ns_between(from, to));
  };
  return prefix_after(ticks < zero_ ? -ns(ticks, zero_) : ns(zero_, ticks));
}

std::string ReportPrinter::prefix_after(std::int64_t ns) const {
  if (!has_times_) return {};
  tracing::InlineTextBuffer<32> time, text;
  tracing::append_relative_time(time, ns);
  tracing::formatting::append_painted(text, parts_.live.is_coloured(), tracing::formatting::kDim, time.view());
  text.append(" ");
  return std::string(text.view());
}

void ReportPrinter::flush_if_large() {
  if (text_.size() < kFlushBytes || !has_records_) return;
  write_(text_);
  text_.clear();
}

}}  // namespace testlog::v1
