#include "tracing_core/export/perfetto.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "tracing_core/collect/registry.h"
#include "tracing_core/format/field_format.h"
#include "tracing_core/record/replay.h"

namespace tracing::inline v1::internal {
namespace {

using Type = PerfettoPackets::Type;

constexpr std::int64_t kNamedRowOrder = -1;  // above the threads, which have none
constexpr std::int64_t kOtherRowOrder = 1;
// So that arrows of held spans and those of causes do not meet.
constexpr std::uint64_t kHeldFlow = std::uint64_t{1} << 63;

std::uint32_t index_of_message(Metadata const& metadata) noexcept {
  return static_cast<std::uint32_t>(metadata.fields().index_of("message"));
}

}  // namespace

PerfettoLayer::Row& PerfettoLayer::row_of(Track const& track) {
  Row& row = rows_[track.number];
  if (row.number != 0) return row;
  auto const thread = thread_of(recording_, track.number);
  row.number = thread ? packets_.add_thread(*thread, track.name) : packets_.add_row(track.name, kOtherRowOrder);
  return row;
}

PerfettoLayer::Row& PerfettoLayer::named_row(std::string_view name) {
  auto const found = named_rows_.find(name);
  if (found != named_rows_.end()) return found->second;
  Row& row = named_rows_.emplace(name, Row()).first->second;
  row.number = packets_.add_row(name, kNamedRowOrder);
  return row;
}

// Viewers reject a slice that ends before it begins.
Instant PerfettoLayer::next_time(Row& row, Instant time) noexcept { return row.last = std::max(row.last, time); }

// ---- slices ----

void PerfettoLayer::begin(Row& row, SpanRef span, Instant time, std::uint64_t linked) {
  auto const held = held_.find(span.id().value);
  packets_.add({Type::begin, row.number, time}, span.metadata(), [&] {
    add_name(span);
    add_values(span, 0);
    if (linked != 0) add_links(linked);
    if (held != held_.end() && !held->second.is_plain()) packets_.flow(held->second.key | kHeldFlow);
  });
  SpanLock const lock = span.lock();
  row.open.push_back({span.id(), span.values().group_count()});
}

void PerfettoLayer::end(Row& row, SpanRef span, Instant time, std::uint32_t groups) {
  packets_.add_end(row.number, time, [&] { add_values(span, groups); });
}

void PerfettoLayer::add_name(SpanRef span) {
  if (!is_kernel(span.metadata())) return;
  InlineTextBuffer<256> name;
  append_kernel_name(name, span);
  packets_.shared_name(name.view());
}

void PerfettoLayer::add_values(SpanRef span, std::uint32_t first_group) {
  SpanLock const lock = span.lock();
  if (span.values().group_count() <= first_group) return;
  std::uint32_t group = 0;
  span.values().for_each_group(span.metadata(), [&](FieldValues const& values) {
    if (group++ >= first_group) packets_.fields(values);
  });
}

void PerfettoLayer::add_links(std::uint64_t key) {
  if (links_.causes.empty()) return;
  if (links_.causes.contains(key)) packets_.flow(key);
  auto const [from, to] = links_.causes_of.equal_range(key);
  for (auto at = from; at != to; ++at) packets_.flow(at->second);
}

void PerfettoLayer::on_enter(SpanRef span, Context const& context) noexcept {
  if (context.is_restored()) return;
  Track const& track = context.track();
  std::uint64_t linked = now_.span;
  if (auto const held = held_.find(span.id().value); held != held_.end()) {
    if (held->second.entered++ > 0) linked = 0;  // its first slice has them
    held->second.is_elsewhere |= held->second.track != track.number;
  }
  Row& row = row_of(track);
  begin(row, span, next_time(row, context.time()), linked);
}

// Spans are left in any order, but slices end in that of their beginnings: those inside are continued.
void PerfettoLayer::on_exit(SpanRef span, Context const& context) noexcept {
  Row& row = row_of(context.track());
  auto const found = std::find_if(row.open.rbegin(), row.open.rend(),
                                  [&](OpenSlice const& slice) { return slice.span == span.id(); });
  if (found == row.open.rend()) return;
  auto const index = static_cast<std::size_t>(row.open.rend() - found) - 1;
  std::vector<OpenSlice> const inside(row.open.begin() + static_cast<std::ptrdiff_t>(index) + 1, row.open.end());
  std::uint32_t const groups = row.open[index].groups;
  row.open.resize(index);
  if (context.is_restored()) return;
  Instant const time = next_time(row, context.time());
  for (std::size_t i = 0; i < inside.size(); ++i) packets_.add_end(row.number, time, [] {});
  end(row, span, time, groups);
  for (OpenSlice const& slice : inside) {
    if (SpanRef const again = context.span(slice.span)) begin(row, again, time, 0);
  }
}

void PerfettoLayer::begin_slice(std::string_view name_of_row, std::string_view name, Instant time) {
  Row& row = named_row(name_of_row);
  packets_.add({Type::begin, row.number, next_time(row, time)}, name);
}
void PerfettoLayer::end_slice(std::string_view name_of_row, Instant time) {
  Row& row = named_row(name_of_row);
  packets_.add_end(row.number, next_time(row, time), [] {});
}

// ---- held spans ----

void PerfettoLayer::on_new_span(SpanRef span, NewSpan const&, Context const& context) noexcept {
  if (context.is_restored() || now_.type == RecordType::scope_begin) return;
  held_.insert_or_assign(span.id().value, Held{context.time(), now_.span, context.track().number});
}

void PerfettoLayer::on_close(SpanRef span, Context const& context) noexcept {
  auto const found = held_.find(span.id().value);
  if (found == held_.end()) return;
  Instant const end = context.time();
  if (!found->second.is_plain()) add_held(span, found->second, context.is_restored() ? nullptr : &end);
  held_.erase(found);
}

void PerfettoLayer::add_held(SpanRef span, Held const& held, Instant const* end) {
  std::uint64_t const row = packets_.add_row(span.metadata().name(), kOtherRowOrder);
  packets_.add({Type::begin, row, held.begin}, span.metadata(), [&] {
    add_name(span);
    add_values(span, 0);
    packets_.flow(held.key | kHeldFlow);
    if (held.entered == 0) add_links(held.key);
  });
  if (end != nullptr) packets_.add_end(row, std::max(held.begin, *end), [] {});
}

// ---- events ----

void PerfettoLayer::on_event(tracing::Event const& event, Context const& context) noexcept {
  if (context.is_restored()) return;
  Metadata const& metadata = event.metadata();
  Row& row = row_of(context.track());
  Instant const time = next_time(row, context.time());
  PerfettoPackets::Callsite const& callsite = packets_.callsite_of(metadata);
  bool const has_only_counters = callsite.has_only_counters;
  if (callsite.has_counters) add_counters(event, time);
  if (has_only_counters) return;
  InlineTextBuffer<256> name;
  if (std::uint32_t const index = index_of_message(metadata); index != event.fields.size()) {
    append_message_text(name, event.fields.value(index), {});
  } else if (metadata.name() != "event") {  // which the macros call them all
    name.append(metadata.name());
  } else {
    name.append(metadata.file());
    name.push_back(':');
    name.append_uint(metadata.line());
  }
  packets_.add({Type::instant, row.number, time}, metadata, [&] {
    packets_.name(name.view());
    packets_.fields(event.fields);
  });
}

void PerfettoLayer::add_counters(tracing::Event const& event, Instant time) {
  for (std::size_t i = 0; i < event.fields.size(); ++i) {
    std::string_view const name = PerfettoPackets::counter_name(event.fields.name(i));
    Value const value = event.fields.value(i);
    bool const is_number = value.kind() == ValueKind::i64 || value.kind() == ValueKind::u64 ||
                           value.kind() == ValueKind::f64 || value.kind() == ValueKind::f32;
    if (name.empty() || !is_number) continue;
    auto const found = counters_.find(name);
    std::uint64_t const row =
        found != counters_.end() ? found->second : counters_.emplace(name, packets_.add_counter(name)).first->second;
    packets_.add_count(row, time, value);
  }
}

void write_perfetto(TraceSource source, PerfettoPackets::Out out) {
  Recording& recording = source.recording;
  SpanLinks const links = SpanLinks::of(recording);
  PerfettoPackets packets({static_cast<std::int64_t>(recording.process()), source.process, recording.start()}, std::move(out));
  RecordEntry now;
  auto made = std::make_unique<PerfettoLayer>(packets, recording, links, now);
  PerfettoLayer& layer = *made;
  auto const registry = RegistryBuilder().with(std::move(made), std::move(source.filter)).build();
  auto const each = [&](RecordEntry const& entry) {
    now = entry;
    if (source.each != nullptr) source.each(entry);
    auto const section = source.section_of != nullptr ? source.section_of(entry) : std::nullopt;
    if (section) section->begins ? layer.begin_slice("tests", section->name, entry.time) : layer.end_slice("tests", entry.time);
    return true;
  };
  replay(recording, *registry, each, LostEntries::shown);
  packets.flush();
}

}  // namespace tracing::inline v1::internal
