#include "tracing_core/export/timeline/trace_source.h"

#include <algorithm>

namespace tracing { inline namespace v1 { namespace recording {

std::optional<RecordedSection> test_of(Entry const& entry) {
  if (entry.type != EntryType::mark) return std::nullopt;
  if (entry.metadata->name() == "test_end") return RecordedSection{false, {}};
  if (entry.metadata->name() != "test_begin" || entry.values == nullptr) return std::nullopt;
  FieldValues const values(*entry.metadata, entry.values);
  Value const test = internal::value_named(values, "test");
  return RecordedSection{true, test.kind() == ValueKind::text ? test.as_text() : std::string_view("?")};
}

SpanLinks SpanLinks::of(Recording& recording) {
  SpanLinks links;
  if (!recording.has(EntryType::follows_from)) return links;
  recording.for_each([&links](Entry const& entry) {
    if (entry.type != EntryType::follows_from) return;
    links.causes.insert(entry.cause);
    links.causes_of.emplace(entry.span, entry.cause);
  });
  return links;
}

bool is_kernel(Metadata const& metadata) noexcept {
  return metadata.name() == "kernel" && metadata.target() == "tracing::cuda::device";
}

void append_kernel_name(TextBuffer& out, SpanRef span) noexcept {
  Metadata const& metadata = span.metadata();
  std::size_t const index = metadata.fields().index_of("kernel.name");
  std::size_t const before = out.size();
  SpanLock const lock = span.lock();
  span.values().for_each_last_group(metadata, [&](FieldValues const& values) {
    Value const value = index < values.size() ? values.value(index) : Value();
    bool const is_text = value.kind() == ValueKind::text || value.kind() == ValueKind::verbatim;
    if (is_text && out.size() == before) out.append(value.as_text());
  });
  if (out.size() == before) out.append(metadata.name());
}

void append_name_of_thread(TextBuffer& out, Track const& track) noexcept {
  if (!track.name.empty()) return out.append(track.name);
  out.append("thread ");
  out.append_uint(track.number);
}

std::optional<std::int64_t> thread_of(Recording const& recording, std::uint64_t track) {
  auto const& threads = recording.threads();
  auto const found = std::lower_bound(threads.begin(), threads.end(), track,
                                      [](Thread const& a, std::uint64_t number) { return a.number < number; });
  if (found == threads.end() || found->number != track) return std::nullopt;
  return found->os_thread;
}

}}}  // namespace tracing::v1::recording
