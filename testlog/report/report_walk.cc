#include "testlog/report/report_walk.h"

#include <algorithm>

namespace testlog { inline namespace v1 {

using tracing::SpanEvents;
using tracing::recording::Entry;
using tracing::recording::EntryType;

namespace {

// Returns the steps of a span that a record reports.
SpanEvents changes_of(EntryType type) noexcept {
  SpanEvents changes = SpanEvents::none;
  if (begins_span(type)) changes = changes | SpanEvents::new_span;
  if (enters_span(type)) changes = changes | SpanEvents::enter;
  if (leaves_span(type)) changes = changes | SpanEvents::exit;
  if (ends_span(type)) changes = changes | SpanEvents::close;
  return changes;
}

}  // namespace

SilentSpans::SilentSpans(std::span<NotedFailure const> failures, std::uint64_t test_thread)
    : failures_(failures), threads_{test_thread} {
  for (NotedFailure const& failure : failures) threads_.insert(failure.thread);
}

bool SilentSpans::has_line(std::uint64_t thread, std::uint64_t begin, std::uint64_t end) const noexcept {
  if (!threads_.contains(thread)) return false;
  if (failures_.empty() || end <= failures_.back().ticks) return true;
  return std::any_of(failures_.begin(), failures_.end(), [&](NotedFailure const& failure) {
    return failure.thread == thread && begin <= failure.ticks && failure.ticks <= end;
  });
}

bool SilentSpans::follow(Entry const& entry) {
  if (entry.type == EntryType::event) open_.erase(entry.span);
  if (begins_span(entry.type)) {
    open_.erase(entry.parent);
    if (!entry.metadata->is_perf() && entry.track == entry.writer) open_.emplace(entry.span, entry.ticks);
  }
  if (!ends_span(entry.type)) return false;
  auto const silent = open_.extract(entry.span);
  return silent && has_line(entry.track, silent.mapped(), entry.ticks);
}

bool ReportWalk::follow_record(Entry const& entry) {
  spans_.follow(entry);
  bool const is_silent = silent_.follow(entry);
  if (entry.is_restated() || !unreported_.contains(entry.ticks)) return false;
  if (entry.type == EntryType::event) return true;
  return span_events_ == SpanEvents::none ? is_silent : has(span_events_, changes_of(entry.type));
}

bool ReportWalk::was_shown(Entry const& entry) const noexcept {
  bool const is_event = entry.type == EntryType::event;
  if (is_event && !entry.was_shown()) return false;
  if (!is_event && (span_events_ == SpanEvents::none || span() == nullptr)) return false;
  for (auto const* span = this->span(); span != nullptr; span = span->parent.get()) {
    if (!span->shown) return false;
  }
  return true;
}

}}  // namespace testlog::v1
