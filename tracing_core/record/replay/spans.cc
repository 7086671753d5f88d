#include "tracing_core/record/spans.h"

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/record/ring/layout.h"

namespace tracing { inline namespace v1 { namespace recording {

Span::~Span() {
  while (parent != nullptr && parent.use_count() == 1) {
    std::shared_ptr<Span> next = std::move(parent->parent);
    parent = std::move(next);
  }
}

std::string Span::path() const {
  std::vector<std::string_view> names;
  for (Span const* span = this; span != nullptr; span = span->parent.get()) names.push_back(span->metadata->name());
  std::string path(names.back());
  for (auto name = std::next(names.rbegin()); name != names.rend(); ++name) path.append(":").append(*name);
  return path;
}

Span* Spans::find(std::uint64_t key) const noexcept {
  auto const found = key == 0 ? spans_.end() : spans_.find(key);
  return found == spans_.end() ? nullptr : found->second.get();
}

void Spans::follow(Entry const& entry) {
  if (std::uint64_t const ended = std::exchange(ended_, 0); ended != 0) spans_.erase(ended);
  std::uint64_t key = entry.span;
  if (entry.type == EntryType::state) {
    restored_[entry.writer] = find(key) == nullptr ? key : 0;
    if (find(key) == nullptr) add(entry, entry.parent, entry.span_tag);
  } else if (begins_span(entry.type)) {
    add(entry, entry.parent != 0 ? entry.parent : innermost(entry), entry.tag);
  } else if (entry.type == EntryType::values) {
    if (!entry.is_restated() || restored_[entry.writer] == key) add_values(find(key), entry);
  } else if (entry.type == EntryType::event && key == 0) {
    key = innermost(entry);
  }
  if (entry.track != entry.writer) {
    if (enters_span(entry.type)) foreign_[entry.track].enter(key);
    if (leaves_span(entry.type)) foreign_[entry.track].leave(key);
  }
  if (ends_span(entry.type)) ended_ = key;
  current_ = find(key);
}

// Returns the span in which a foreign track is: the decoder does not follow the spans of such tracks.
std::uint64_t Spans::innermost(Entry const& entry) const {
  if (entry.track == entry.writer || (entry.flags & internal::kParentMask) != 0) return 0;
  auto const found = foreign_.find(entry.track);
  return found == foreign_.end() ? 0 : found->second.innermost();
}

void Spans::add(Entry const& entry, std::uint64_t parent, std::uint32_t tag) {
  auto span = std::make_shared<Span>();
  span->key = entry.span;
  span->metadata = entry.metadata;
  span->tag = tag;
  span->shown = entry.was_shown();
  if (auto const found = spans_.find(parent); parent != 0 && found != spans_.end()) span->parent = found->second;
  add_values(span.get(), entry);
  spans_[entry.span] = std::move(span);
}

void Spans::add_values(Span* span, Entry const& entry) {
  if (span == nullptr || entry.values == nullptr) return;
  FieldValues const recorded(*entry.metadata, entry.values);
  if (span->values.empty()) return span->values.add(recorded);
  StoredValues added;
  added.add(recorded);
  span->values.update(*span->metadata, added);
}

}}}  // namespace tracing::v1::recording
