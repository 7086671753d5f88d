#include "testlog/report_walk.h"

namespace testlog::inline v1 {

using tracing::SpanEvents;
using tracing::internal::RecordEntry;
using tracing::internal::RecordType;

namespace {

// The steps of a span that a record reports.
SpanEvents changes_of(RecordType type) noexcept {
  switch (type) {
    case RecordType::scope_begin: return SpanEvents::new_span | SpanEvents::enter;
    case RecordType::scope_end: return SpanEvents::exit | SpanEvents::close;
    case RecordType::new_span: return SpanEvents::new_span;
    case RecordType::enter: return SpanEvents::enter;
    case RecordType::exit: return SpanEvents::exit;
    case RecordType::close: return SpanEvents::close;
    default: return SpanEvents::none;
  }
}

}  // namespace

bool SilentSpans::follow(RecordEntry const& entry) {
  switch (entry.type) {
    case RecordType::event: open_.erase(entry.span); break;
    case RecordType::scope_begin:
    case RecordType::new_span:
      open_.erase(entry.parent);
      if (!entry.metadata->is_perf() && entry.track == entry.writer) open_.insert(entry.span);
      break;
    case RecordType::scope_end:
    case RecordType::close: return open_.erase(entry.span) > 0;
    default: break;
  }
  return false;
}

bool ReportWalk::follow_record(RecordEntry const& entry) {
  spans_.follow(entry);
  bool const is_silent = silent_.follow(entry);
  if ((entry.flags & tracing::internal::kRestated) != 0 || !unreported_.contains(entry.ticks)) return false;
  if (entry.type == RecordType::event) return true;
  return span_events_ == SpanEvents::none ? is_silent : has(span_events_, changes_of(entry.type));
}

bool ReportWalk::was_shown(RecordEntry const& entry) const noexcept {
  bool const is_event = entry.type == RecordType::event;
  if (is_event && (entry.flags & tracing::internal::kShown) == 0) return false;
  if (!is_event && (span_events_ == SpanEvents::none || span() == nullptr)) return false;
  for (auto const* span = this->span(); span != nullptr; span = span->parent.get()) {
    if (!span->shown) return false;
  }
  return true;
}

}  // namespace testlog::inline v1
