#include "testlog/cli/otlp/span_outlines.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/record/replay.h"

namespace testlog::cli::otlp {
namespace {

using tracing::Context;
using tracing::SpanRef;
using tracing::Value;
using tracing::ValueKind;
using tracing::recording::Entry;
using tracing::recording::EntryType;

// What a span takes besides its values: ids, times, thread, place and, if it is on the path of a failure, a status.
constexpr std::size_t kSpanBytes = 512;
constexpr std::size_t kFieldBytes = 32;  // what an attribute takes besides its name and text

std::size_t size_of_error(Value const& error) {
  std::size_t size = 0;
  error.error_type().visit(error.as_pointer(), &size, [](void* sum, std::string_view text) {
    *static_cast<std::size_t*>(sum) += 2 * (kFieldBytes + text.size());
  });
  return size;
}

// Returns at least as many bytes as the values take. A byte that is not UTF-8 becomes three.
std::size_t size_of(tracing::FieldValues const& fields) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    Value const value = fields.value(i);
    if (value.is_empty()) continue;
    size += kFieldBytes + 3 * fields.name(i).size();
    if (value.kind() == ValueKind::text || value.kind() == ValueKind::verbatim || value.kind() == ValueKind::bytes) {
      size += 3 * value.as_text().size();
    } else if (value.kind() == ValueKind::error) {
      size += size_of_error(value);
    } else if (value.kind() >= ValueKind::i128) {
      tracing::InlineTextBuffer<256> text;
      append_debug(text, value);
      size += 3 * text.size();
    }
  }
  return size;
}

std::size_t size_of(tracing::Metadata const& metadata) {
  return metadata.name().size() + metadata.target().size() + metadata.module_path().size() +
         metadata.function().size() + metadata.file().size();
}

class OutlineLayer final : public tracing::Layer {
 public:
  // `now` is the entry that is being replayed.
  OutlineLayer(std::vector<SpanOutline>& outlines, RunFacts const& facts, Entry const& now, bool with_events)
      : outlines_(outlines), now_(now), with_events_(with_events) {
    for (auto const& [tag, test] : facts.tests) {
      if (!test.failures.empty()) failures_.emplace(test.failures.front().time, tag);
    }
  }

  tracing::Hooks hooks() const noexcept override {
    using tracing::Hooks;
    return Hooks::new_span | Hooks::exit | Hooks::close | (with_events_ ? Hooks::event : Hooks::none);
  }

  // Called before each record is replayed.
  void look_for_failures() {
    while (!failures_.empty() && failures_.begin()->first <= now_.time) {
      for (auto const& [id, index] : numbers_.open())
        outlines_[index].is_on_path |= outlines_[index].tag == failures_.begin()->second;
      failures_.erase(failures_.begin());
    }
  }

  void on_new_span(SpanRef span, tracing::NewSpan const&, Context const& context) noexcept override {
    SpanOutline outline;
    outline.parent = numbers_.of(span.parent());
    (void)numbers_.begin(span.id());
    outline.begin = outline.end = context.time();
    outline.key = now_.span;
    outline.track = context.track().number;
    outline.begin_is_lost = now_.type == EntryType::state;
    outline.tag = outline.begin_is_lost ? now_.span_tag : now_.tag;
    outlines_.push_back(outline);
    events_.push_back(0);
  }

  void on_event(tracing::Event const& event, Context const& context) noexcept override {
    std::size_t const index = numbers_.of(context.event_span(event));
    if (index == SpanOutline::kNone || context.is_restored()) return;
    if (events_[index]++ >= OutlineOptions::kMaxEvents) return;
    add_bytes(outlines_[index], kSpanBytes + size_of(event.fields) + size_of(event.metadata()));
  }

  void on_exit(SpanRef span, Context const&) noexcept override {
    std::size_t const index = numbers_.of(span);
    if (index == SpanOutline::kNone || now_.span != outlines_[index].key || !now_.is_by_exception()) return;
    outlines_[index].was_left_by_exception = outlines_[index].is_on_path = true;
  }

  void on_close(SpanRef span, Context const& context) noexcept override {
    std::size_t const index = numbers_.of(span);
    if (index == SpanOutline::kNone) return;
    numbers_.end(span);
    SpanOutline& outline = outlines_[index];
    outline.end = std::max(outline.begin, context.time());
    bool const is_end = leaves_span(now_.type) || ends_span(now_.type);
    outline.is_open = context.is_restored() && !(is_end && now_.span == outline.key);
    add_bytes(outline, kSpanBytes + size_of(span.metadata()));
    tracing::SpanLock const lock = span.lock();
    span.values().for_each_last_group(
        span.metadata(), [&outline](tracing::FieldValues const& values) { add_bytes(outline, size_of(values)); });
  }

 private:
  static void add_bytes(SpanOutline& outline, std::size_t bytes) {
    outline.bytes = static_cast<std::uint32_t>(std::min<std::size_t>(outline.bytes + bytes, UINT32_MAX));
  }

  std::vector<SpanOutline>& outlines_;
  Entry const& now_;
  bool const with_events_;
  SpanNumbers numbers_;
  std::vector<std::uint32_t> events_;                 // of each span
  std::multimap<Instant, std::uint32_t> failures_{};  // the first of each test, with its tag
};

std::int64_t duration_of(SpanOutline const& outline) { return outline.end.ns - outline.begin.ns; }

// Keeps the spans of the same trace around a span, and the span itself, if there is room. Takes their sizes from
// `left`.
bool keep(std::vector<SpanOutline>& outlines, std::size_t index, std::uint64_t& left) {
  std::uint32_t const tag = outlines[index].tag;
  auto const is_new = [&](std::size_t i) {
    return i != SpanOutline::kNone && outlines[i].tag == tag && !outlines[i].is_kept;
  };
  std::uint64_t bytes = 0;
  for (std::size_t i = index; is_new(i); i = outlines[i].parent) bytes += outlines[i].bytes;
  if (bytes > left) return false;
  left -= bytes;
  for (std::size_t i = index; is_new(i); i = outlines[i].parent) outlines[i].is_kept = true;
  return true;
}

// Keeps spans until each trace is full.
void choose(std::vector<SpanOutline>& outlines, std::uint64_t max_trace_bytes) {
  std::map<std::uint32_t, std::vector<std::size_t>> of_tags;
  for (std::size_t i = 0; i < outlines.size(); ++i) of_tags[outlines[i].tag].push_back(i);
  for (auto& [tag, spans] : of_tags) {
    std::stable_sort(spans.begin(), spans.end(), [&outlines](std::size_t a, std::size_t b) {
      SpanOutline const &x = outlines[a], &y = outlines[b];
      return x.is_on_path != y.is_on_path ? x.is_on_path : duration_of(x) > duration_of(y);
    });
    std::uint64_t left = max_trace_bytes;
    for (std::size_t const span : spans) {
      if (!keep(outlines, span, left)) break;
    }
  }
}

}  // namespace

std::vector<SpanOutline> outlines_of(tracing::recording::Recording& recording, RunFacts const& facts,
                                     OutlineOptions options) {
  std::vector<SpanOutline> outlines;
  Entry now;
  auto made = std::make_unique<OutlineLayer>(outlines, facts, now, options.with_events);
  OutlineLayer& layer = *made;
  auto const registry = tracing::RegistryBuilder().with(std::move(made), std::move(options.filter)).build();
  auto const each = [&](Entry const& entry) {
    now = entry;
    layer.look_for_failures();
    return true;
  };
  tracing::recording::replay(recording, *registry, each, tracing::recording::LostEntries::shown);
  for (SpanOutline& outline : outlines) {
    auto const test = facts.tests.find(outline.tag);
    outline.is_on_path |=
        outline.is_open && test != facts.tests.end() && summary::is_failure(test->second.outcome.result);
  }
  choose(outlines, options.max_trace_bytes);
  return outlines;
}

}  // namespace testlog::cli::otlp
