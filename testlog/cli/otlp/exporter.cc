#include "testlog/cli/otlp/exporter.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "testlog/cli/otlp/span_outlines.h"
#include "testlog/cli/otlp/test_spans.h"
#include "testlog/cli/otlp/values.h"
#include "tracing_core/collect/registry.h"
#include "tracing_core/environment/failed_attempts.h"
#include "tracing_core/export/timeline/trace_source.h"
#include "tracing_core/record/decode/recording_files.h"
#include "tracing_core/record/replay.h"

namespace testlog::cli::otlp {
namespace {

using tracing::Context;
using tracing::Level;
using tracing::SpanRef;
using tracing::environment::TraceIds;
using tracing::recording::Entry;
using tracing::recording::Recording;
using tracing::recording::SpanLinks;

int severity_of(Level level) noexcept {
  switch (level) {
    case Level::error: return 17;
    case Level::warn: return 13;
    case Level::info: return 9;
    case Level::debug: return 5;
    case Level::trace: return 1;
  }
  return 0;
}

// The recording that is exported.
struct Exported {
  Recording& recording;
  TraceIds const& ids;
  std::vector<SpanOutline> const& outlines;
  SpanLinks const& links;
  std::unordered_map<std::uint64_t, std::size_t> const& causes;  // the numbers of spans that others follow, by key
  bool span_events;
};

// Makes the spans that are kept, and the log records.
class ExportLayer final : public tracing::Layer {
 public:
  // `now` is the entry that is being replayed.
  ExportLayer(Exported const& from, Entry const& now, Receiver& to) : from_(from), now_(now), to_(to) {}

  tracing::Hooks hooks() const noexcept override {
    return tracing::Hooks::new_span | tracing::Hooks::event | tracing::Hooks::close;
  }
  void on_new_span(SpanRef span, tracing::NewSpan const&, Context const&) noexcept override {
    (void)numbers_.begin(span.id());
  }
  void on_event(tracing::Event const& event, Context const& context) noexcept override;
  void on_close(SpanRef span, Context const& context) noexcept override;

 private:
  struct Events {
    std::vector<SpanEvent> events;
    std::uint32_t dropped = 0;
  };
  using Outline = SpanOutline;

  // Returns the number of the innermost span that is kept, of a span and those around it in its trace.
  std::size_t kept(std::size_t index) const {
    if (index == Outline::kNone) return index;
    std::uint32_t const tag = from_.outlines[index].tag;
    while (index != Outline::kNone && from_.outlines[index].tag == tag && !from_.outlines[index].is_kept)
      index = from_.outlines[index].parent;
    return index == Outline::kNone || from_.outlines[index].tag != tag ? Outline::kNone : index;
  }
  void add_thread(Attributes& to, tracing::Track const& track) const;
  // Returns the id of a span or, for kNone, of the span around all spans with the tag.
  std::uint64_t id_of(std::size_t index, std::uint32_t tag) const {
    return index == Outline::kNone ? from_.ids.around(tag) : from_.ids.span(from_.outlines[index].key);
  }
  Link link_to(std::size_t index) const;
  void add_links(Span& span, Outline const& outline) const;
  static void add_status(Span& span, Outline const& outline);
  void add_event(tracing::Event const& event, Instant time, std::size_t index);
  void add_record(tracing::Event const& event, Context const& context, std::size_t index);

  Exported const& from_;
  Entry const& now_;
  Receiver& to_;
  SpanNumbers numbers_;
  std::unordered_map<std::size_t, Events> events_;  // of open spans
};

void ExportLayer::add_thread(Attributes& to, tracing::Track const& track) const {
  auto const thread = tracing::recording::thread_of(from_.recording, track.number);
  tracing::InlineTextBuffer<64> name;
  tracing::recording::append_name_of_thread(name, track);
  if (thread && *thread != 0) {
    add_attribute(to, "thread.id", *thread);
    add_attribute(to, "thread.name", std::string(name.view()));
  } else {
    add_attribute(to, "testlog.track", std::string(name.view()));
  }
}

// Returns a link to a span or, if its trace was too large for it, to what is around it.
Link ExportLayer::link_to(std::size_t index) const {
  return {from_.ids.trace_of(from_.outlines[index].tag), id_of(kept(index), from_.outlines[index].tag), {}};
}

// Adds links to the spans that a span follows from, such as to the launch of a kernel.
void ExportLayer::add_links(Span& span, Outline const& outline) const {
  auto const [first, last] = from_.links.causes_of.equal_range(outline.key);
  for (auto at = first; at != last; ++at) {
    auto const cause = from_.causes.find(at->second);
    if (cause != from_.causes.end()) span.links.push_back(link_to(cause->second));
  }
  bool const has_parent_elsewhere =
      outline.parent != Outline::kNone && from_.outlines[outline.parent].tag != outline.tag;
  if (has_parent_elsewhere) span.links.push_back(link_to(outline.parent));
}

void ExportLayer::add_status(Span& span, Outline const& outline) {
  if (outline.begin_is_lost) add_attribute(span.attributes, "testlog.begin_is_overwritten", true);
  if (outline.is_open) add_attribute(span.attributes, "testlog.is_open", true);
  if (!outline.was_left_by_exception) return;
  span.status = StatusCode::error;
  span.status_message = "an exception left the span";
}

void ExportLayer::on_close(SpanRef closed, Context const& context) noexcept {
  std::size_t const index = numbers_.of(closed);
  if (index == Outline::kNone) return;
  numbers_.end(closed);
  Outline const& outline = from_.outlines[index];
  if (!outline.is_kept) return;
  tracing::Metadata const& metadata = closed.metadata();
  Span span{.trace = from_.ids.trace_of(outline.tag), .id = from_.ids.span(outline.key)};
  bool const has_parent = outline.parent != Outline::kNone && from_.outlines[outline.parent].tag == outline.tag;
  span.parent = id_of(has_parent ? outline.parent : Outline::kNone, outline.tag);
  span.begin = outline.begin;
  span.end = outline.end;
  span.name = metadata.name();
  if (tracing::recording::is_kernel(metadata)) {
    tracing::InlineTextBuffer<256> name;
    tracing::recording::append_kernel_name(name, closed);
    span.name = name.view();
  }
  {
    tracing::SpanLock const lock = closed.lock();
    closed.values().for_each_last_group(
        metadata, [&span](tracing::FieldValues const& values) { add_fields(span.attributes, values); });
  }
  add_thread(span.attributes, context.track());
  add_place(span.attributes, metadata);
  add_links(span, outline);
  add_status(span, outline);
  if (auto const found = events_.find(index); found != events_.end()) {
    span.events = std::move(found->second.events);
    span.dropped_events = found->second.dropped;
    events_.erase(found);
  }
  to_.add(std::move(span));
}

void ExportLayer::on_event(tracing::Event const& event, Context const& context) noexcept {
  if (context.is_restored()) return;
  std::size_t const index = numbers_.of(context.event_span(event));
  from_.span_events ? add_event(event, context.time(), index) : add_record(event, context, index);
}

// Returns the message of an event or, without one, its name.
static Any body_of(tracing::Event const& event) {
  for (std::size_t i = 0; i < event.fields.size(); ++i)
    if (event.fields.name(i) == "message") return any_of(event.fields.value(i));
  return std::string(event.metadata().name());
}

static std::string text_of(Any body) {
  auto* const text = std::get_if<std::string>(&body.value);
  return text == nullptr ? "event" : std::move(*text);
}

void ExportLayer::add_event(tracing::Event const& event, Instant time, std::size_t index) {
  std::size_t const span = kept(index);
  if (span == Outline::kNone) return;
  Events& of_span = events_[span];
  if (span != index || of_span.events.size() == OutlineOptions::kMaxEvents) {
    ++of_span.dropped;
    return;
  }
  SpanEvent made{time, text_of(body_of(event)), {}};
  add_fields(made.attributes, event.fields);
  add_attribute(made.attributes, "level", std::string(name(event.metadata().level())));
  add_place(made.attributes, event.metadata());
  of_span.events.push_back(std::move(made));
}

void ExportLayer::add_record(tracing::Event const& event, Context const& context, std::size_t index) {
  // The tag is that of the span around the event, so that both are in one trace.
  LogRecord record{.time = context.time()};
  record.severity = severity_of(event.metadata().level());
  record.severity_text = name(event.metadata().level());
  record.body = body_of(event);
  add_fields(record.attributes, event.fields);
  add_thread(record.attributes, context.track());
  add_place(record.attributes, event.metadata());
  std::uint32_t const tag = index == Outline::kNone ? now_.tag : from_.outlines[index].tag;
  record.trace = from_.ids.trace_of(tag);
  record.span = id_of(kept(index), tag);
  to_.add(std::move(record));
}

// Returns a name that the recordings of all attempts of a test have in common.
std::string name_of_attempts(std::string const& path) {
  std::filesystem::path const file(path);
  if (file.parent_path().filename() != "passed") return tracing::environment::name_of_attempt(file.filename());
  std::string const numbered = tracing::recording::name_of_recording(path);  // Pool.Grows.1
  return numbered.substr(0, numbered.rfind('.')).append(tracing::recording::kRecordingSuffix);
}

}  // namespace

Exporter::Root& Exporter::root_of(RunFacts const& facts, TraceIds const& ids, Resource const& resource) {
  auto const [found, is_new] = roots_.try_emplace(ids.root());
  Root& root = found->second;
  if (is_new) {
    root.resource = resource;
    root.span.trace = ids.trace();
    root.span.id = ids.root();
    root.span.begin = facts.begin;
    root.span.end = facts.end;
    root.runs_tests = !facts.identity.run.empty();
    root.span.name = root.runs_tests ? "test run" : facts.program;
    if (ids.parent()) {
      root.span.parent = ids.parent()->span;
      root.span.has_remote_parent = true;
      root.span.trace_state = facts.tracestate;
    }
  }
  root.span.begin = std::min(root.span.begin, facts.begin);
  root.span.end = std::max(root.span.end, facts.end);
  std::string const attempts = name_of_attempts(facts.path);
  for (auto const& [tag, test] : facts.tests) {
    bool const has_failed = summary::is_failure(test.outcome.result);
    if (tag == 0) {
      root.has_failed_outside |= has_failed;
      add_failures(root.span, test);
      continue;
    }
    ++root.tests;
    root.failed += has_failed;
    std::string const name = attempts + '/' + test.outcome.name;
    if (has_failed) {
      root.failing.insert(name);
    } else if (root.failing.erase(name) != 0) {
      ++root.flaky;
    }
  }
  return root;
}

void Exporter::add(Recording& recording, std::string const& path, std::function<void(Entry const&)> const& each,
                   std::string& reports) {
  RunFacts const facts = facts_of(recording, path);
  TraceIds const ids(facts.identity);
  Resource const resource = resource_of(
      facts, [](char const* name) -> char const* { return std::getenv(name); }, reports);
  Root& root = root_of(facts, ids, resource);
  std::vector<SpanOutline> const outlines =
      outlines_of(recording, facts, {options_.make_filter(), options_.max_trace_bytes, options_.span_events});
  std::map<std::uint32_t, Missing> traces;  // by tag
  for (auto const& [tag, test] : facts.tests) traces[tag] = {};
  for (SpanOutline const& outline : outlines) traces[outline.tag].spans += !outline.is_kept;
  to_.begin_resource(resource);
  for (auto const& [tag, missing] : traces) {
    auto const test = facts.tests.find(tag);
    bool const is_test = tag != 0 && test != facts.tests.end();
    if (is_test) to_.add(test_span(test->second, tag, ids));
    if (tag != 0)
      to_.add(inner_span(is_test ? &test->second : nullptr, tag, ids, facts, {missing.spans, recording.lost_of(tag)}));
    if (tag == 0) root.dropped_spans += static_cast<std::int64_t>(missing.spans);
  }
  root.overwritten_records += static_cast<std::int64_t>(recording.lost_of(0));
  SpanLinks const links = SpanLinks::of(recording);
  std::unordered_map<std::uint64_t, std::size_t> causes;
  for (std::size_t i = 0; i < outlines.size(); ++i)
    if (links.causes.contains(outlines[i].key)) causes.emplace(outlines[i].key, i);
  Exported const exported{recording, ids, outlines, links, causes, options_.span_events};
  Entry now;
  auto const registry = tracing::RegistryBuilder()
                            .with(std::make_unique<ExportLayer>(exported, now, to_), options_.make_filter())
                            .build();
  auto const replayed = [&](Entry const& entry) {
    now = entry;
    each(entry);
    return true;
  };
  tracing::recording::replay(recording, *registry, replayed, tracing::recording::LostEntries::shown);
}

void Exporter::finish() {
  for (auto& [id, root] : roots_) {
    if (root.runs_tests) {
      add_attribute(root.span.attributes, "test.suite.run.status", root.has_failed() ? "failure" : "success");
      add_attribute(root.span.attributes, "testlog.tests", root.tests);
      add_attribute(root.span.attributes, "testlog.failed", root.failed);
      if (root.flaky != 0) add_attribute(root.span.attributes, "testlog.flaky", root.flaky);
    }
    if (root.dropped_spans != 0) add_attribute(root.span.attributes, "testlog.dropped_spans", root.dropped_spans);
    if (root.overwritten_records != 0)
      add_attribute(root.span.attributes, "testlog.overwritten_records", root.overwritten_records);
    if (root.has_failed()) root.span.status = StatusCode::error;
    to_.begin_resource(root.resource);
    to_.add(std::move(root.span));
  }
  roots_.clear();
}

}  // namespace testlog::cli::otlp
