#include "tracing_core/record/recorded_spans.h"

#include <algorithm>
#include <utility>

#include "tracing_core/record/reader_parts.h"

namespace tracing::inline v1::internal {

RecordedSpan::~RecordedSpan() {
  while (parent != nullptr && parent.use_count() == 1) {
    std::shared_ptr<RecordedSpan> next = std::move(parent->parent);
    parent = std::move(next);
  }
}

RecordedSpan* RecordedSpans::find(std::uint64_t key) const noexcept {
  auto const found = key == 0 ? spans_.end() : spans_.find(key);
  return found == spans_.end() ? nullptr : found->second.get();
}

void RecordedSpans::follow(RecordEntry const& entry) {
  if (std::uint64_t const ended = std::exchange(ended_, 0); ended != 0) spans_.erase(ended);
  bool const is_foreign = entry.track != entry.writer;
  std::uint64_t key = entry.span;
  switch (entry.type) {
    case RecordType::state:
      restored_[entry.writer] = find(key) == nullptr ? key : 0;
      if (find(key) == nullptr) add(entry, entry.parent, entry.span_tag);
      break;
    case RecordType::scope_begin:
    case RecordType::new_span: add(entry, entry.parent != 0 ? entry.parent : innermost(entry), entry.tag); break;
    case RecordType::values:
      if ((entry.flags & kRestated) == 0 || restored_[entry.writer] == key) add_values(find(key), entry);
      break;
    case RecordType::event:
      if (key == 0) key = innermost(entry);
      break;
    case RecordType::enter:
      if (is_foreign) foreign_[entry.track].push_back(key);
      break;
    case RecordType::exit:
      if (is_foreign) {
        auto& entered = foreign_[entry.track];
        auto const found = find_innermost(entered, [key](std::uint64_t span) { return span == key; });
        if (found != entered.rend()) entered.erase(std::next(found).base());
      }
      break;
    case RecordType::scope_end:
    case RecordType::close: ended_ = key; break;
    default: break;
  }
  current_ = find(key);
}

// Of a foreign track in a contextual place: the reader does not know its spans.
std::uint64_t RecordedSpans::innermost(RecordEntry const& entry) const {
  if (entry.track == entry.writer || (entry.flags & kParentMask) != 0) return 0;
  auto const found = foreign_.find(entry.track);
  return found == foreign_.end() || found->second.empty() ? 0 : found->second.back();
}

void RecordedSpans::add(RecordEntry const& entry, std::uint64_t parent, std::uint32_t tag) {
  auto span = std::make_shared<RecordedSpan>();
  span->key = entry.span;
  span->metadata = entry.metadata;
  span->tag = tag;
  span->shown = (entry.flags & kShown) != 0;
  if (auto const found = spans_.find(parent); parent != 0 && found != spans_.end()) span->parent = found->second;
  add_values(span.get(), entry);
  spans_[entry.span] = std::move(span);
}

void RecordedSpans::add_values(RecordedSpan* span, RecordEntry const& entry) {
  if (span == nullptr || entry.values == nullptr) return;
  FieldValues const recorded(*entry.metadata, entry.values);
  if (span->values.empty()) return span->values.add(recorded);
  StoredValues added;
  added.add(recorded);
  span->values.update(*span->metadata, added);
}

}  // namespace tracing::inline v1::internal
