#include "tracing_core/inspect/statistics_layer.h"

#include <algorithm>

#include "tracing_core/inspect/device_calls.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

constexpr std::string_view kDeviceTarget = "tracing::cuda::device";

std::optional<double> number_of(Value const& value) noexcept {
  switch (value.kind()) {
    case ValueKind::u64: return static_cast<double>(value.as_u64());
    case ValueKind::i64: return static_cast<double>(value.as_i64());
    case ValueKind::f64:
    case ValueKind::f32: return value.as_double();
    default: return std::nullopt;
  }
}

std::optional<std::uint64_t> count_of(Value const& value) noexcept {
  auto const number = number_of(value);
  return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::string text_of(Value const& value) {
  if (value.kind() == ValueKind::text) return std::string(value.as_text());
  InlineTextBuffer<64> text;
  append_debug(text, value);
  return std::string(text.view());
}

void const* pointer_of(Value const& value) noexcept {
  return value.kind() == ValueKind::pointer ? value.as_pointer() : nullptr;
}

// Returns `read(value)` for the last value of a field, or for an empty value if the field was not recorded.
template <class F>
auto last_of(SpanRef span, std::string_view name, F read) {
  auto result = read(Value());
  Metadata const& metadata = span.metadata();
  std::size_t const index = metadata.fields().index_of(name);
  if (index == metadata.fields().size()) return result;
  SpanLock const lock = span.lock();
  span.values().for_each_group(metadata, [&](FieldValues const& values) {
    if (!values.value(index).is_empty()) result = read(values.value(index));
  });
  return result;
}

std::string_view message_of(FieldValues const& fields) noexcept {
  Value const message = internal::value_named(fields, "message");
  if (message.kind() == ValueKind::message) return message_literal(message.message_metadata().parts());
  return message.kind() == ValueKind::text ? message.as_text() : std::string_view();
}

// Returns the name of the innermost span that is not of tracing::cuda: the code that called the driver or the runtime.
std::string name_of_caller(SpanRef span) {
  while (span && internal::is_of_cuda(span.metadata())) span = span.parent();
  if (!span) return "(outside any span)";
  return std::string(span.metadata().target()).append("::").append(span.metadata().name());
}

// Returns the name of the device's span for a call of the host: `memcpy_htod` for `memcpy_htod_async`, `memset` for
// `memset_d8`.
std::string_view name_on_device(std::string_view name) noexcept {
  constexpr std::string_view kAsync = "_async";
  if (name.starts_with("memset_")) return name.substr(0, 6);
  return name.ends_with(kAsync) ? name.substr(0, name.size() - kAsync.size()) : name;
}

KernelKey kernel_key(SpanRef span) {
  return {last_of(span, "kernel.name", text_of), last_of(span, "grid", text_of), last_of(span, "block", text_of),
          last_of(span, "shared_bytes", count_of)};
}

bool is_launch(Metadata const& metadata) noexcept {
  return metadata.name() == "launch" && metadata.fields().contains("kernel.name") && metadata.fields().contains("grid");
}

// Returns true if a span of the host gives work to the device. A call that is captured into a graph does not. Requests
// are counted when their spans are made, since the span of a launch is entered again to report its end.
bool is_request(SpanRef span) {
  Metadata const& metadata = span.metadata();
  bool const is_copy = internal::is_of_cuda(metadata) &&
                       (metadata.name().starts_with("memcpy_") || metadata.name().starts_with("memset_"));
  if (!is_copy && !is_launch(metadata)) return false;
  return !last_of(span, "capture", [](Value const& value) { return !value.is_empty(); });
}

}  // namespace

void StatisticsLayer::finish() {
  for (auto& [name, group] : sums_.groups) {
    for (auto& [key, sum] : group.memory) sum.end();
    group.spans_by_site.clear();
  }
}

GroupSums* StatisticsLayer::group_of(std::uint32_t tag, Track const& track, std::string_view target) {
  std::optional<std::string> test = "";
  if (test_of_ != nullptr) {
    auto const [place, is_new] = tests_.try_emplace(tag);
    if (is_new) place->second = test_of_(tag);
    test = place->second;
  }
  if (!test) return nullptr;
  switch (sums_.by) {
    case StatisticsBy::all: break;
    case StatisticsBy::test: return &sums_.group(test->empty() ? "outside any test" : *test);
    case StatisticsBy::target: return &sums_.group(std::string(target));
    case StatisticsBy::thread:
      return &sums_.group(track.name.empty() ? "thread " + std::to_string(track.number) : std::string(track.name));
  }
  return &sums_.group("");
}

// Returns the tag that decides the test of a record: the tag of the outermost span around the record or, without a
// span, of the record itself.
std::uint32_t StatisticsLayer::tag_on(Track const& track) {
  auto const& around = stacks_.of(track);
  return around.empty() ? now_.tag : around.front().data.tag;
}

// ---- spans ----

void StatisticsLayer::on_new_span(SpanRef span, NewSpan const&, Context const& context) noexcept {
  if (context.is_restored() || !is_request(span)) return;
  Track const& track = context.track();
  std::uint32_t const tag = tag_on(track);
  if (GroupSums* const group = group_of(tag, track, span.metadata().target())) add_request(*group, span);
  // If TRACE_LAUNCH encloses the launch of a Driver or of the stand-in, count only the inner launch, which knows the
  // kernel's whole name.
  SpanRef const around = span.parent();
  if (!around || !is_launch(span.metadata()) || !is_launch(around.metadata()) || !is_request(around)) return;
  if (GroupSums* const group = group_of(tag, track, around.metadata().target()))
    group->forget_launch(kernel_key(around));
}

// A call that began before the recording of a profile is only context, and is not counted.
void StatisticsLayer::on_enter(SpanRef span, Context const& context) noexcept {
  Track const& track = context.track();
  Metadata const& metadata = span.metadata();
  Call call{nullptr, nullptr, tag_on(track)};
  if (!context.is_restored()) call.group = group_of(call.tag, track, metadata.target());
  if (call.group != nullptr && metadata.target() != kDeviceTarget) {
    call.sum = &call.group->span(metadata);
    if (now_.type == recording::EntryType::state) ++call.sum->cut;
    ++inside_[{track.number, call.sum}];
  }
  stacks_.enter(track, span.id(), context.time(), call);
}

void StatisticsLayer::on_exit(SpanRef span, Context const& context) noexcept {
  auto const left = stacks_.leave(context.track(), span.id(), context.time());
  if (!left || left->data.group == nullptr) return;
  GroupSums& group = *left->data.group;
  Metadata const& metadata = span.metadata();
  if (left->data.sum == nullptr) return add_device(group, span, left->ns);
  SpanSum& sum = *left->data.sum;
  auto const inside = inside_.find({context.track().number, &sum});
  bool const is_inside_itself = --inside->second > 0;
  if (!is_inside_itself) inside_.erase(inside);
  sum.time.add(left->ns, is_inside_itself ? 0 : left->ns);
  sum.self_ns += left->self_ns;
  if (context.is_restored() && context.time() >= last_) ++sum.open;
  if (internal::is_of_cuda(metadata) && metadata.name() == "compile") add_compile(group, span);
}

// ---- kernels and compilations ----

void StatisticsLayer::add_device(GroupSums& group, SpanRef span, std::uint64_t ns) {
  bool const is_kernel = span.metadata().fields().contains("kernel.name");
  KernelSum& sum = group.kernels[is_kernel ? kernel_key(span) : KernelKey{std::string(span.metadata().name())}];
  sum.time.add(ns, ns);
  sum.moved_bytes += last_of(span, "bytes", count_of).value_or(0);
  if (auto const registers = last_of(span, "registers", count_of)) sum.registers = registers;
}

void StatisticsLayer::add_request(GroupSums& group, SpanRef span) {
  Metadata const& metadata = span.metadata();
  if (is_launch(metadata)) {
    ++group.kernels[kernel_key(span)].requests;
    return;
  }
  KernelSum& sum = group.kernels[KernelKey{std::string(name_on_device(metadata.name()))}];
  ++sum.requests;
  auto const count = [span](std::string_view name) { return last_of(span, name, count_of); };
  sum.requested_bytes += requested_bytes(metadata.name(), count);
}

void StatisticsLayer::add_compile(GroupSums& group, SpanRef span) {
  constexpr double kMaxMs = 1e12;  // thirty years: a damaged recording may have any number
  std::string const cache = last_of(span, "cache", text_of);
  CompileStatistics& sum = group.compiles[last_of(span, "kernel.name", text_of)];
  bool const is_hit = cache == "memory" || cache == "disk";
  ++(is_hit ? sum.hits : sum.misses);
  auto const duration_ms = last_of(span, "duration_ms", number_of);
  if (!is_hit && duration_ms && *duration_ms > 0 && *duration_ms < kMaxMs)
    sum.total_ns += static_cast<std::uint64_t>(*duration_ms * 1e6);
}

// Keeps the registers and memory that each launch of a kernel uses, from the events `found kernel` and `kernel uses`.
void StatisticsLayer::add_kernel_facts(FieldValues const& fields) {
  std::string const name = text_of(internal::value_named(fields, "kernel.name"));
  auto& facts = sums_.kernel_facts[name];
  if (auto const registers = count_of(internal::value_named(fields, "registers"))) facts.registers = registers;
  if (auto const bytes = count_of(internal::value_named(fields, "shared_bytes"))) facts.shared_bytes = *bytes;
}

// ---- events ----

void StatisticsLayer::on_event(Event const& event, Context const& context) noexcept {
  Metadata const& metadata = event.metadata();
  if (context.is_restored() || !internal::is_of_cuda(metadata)) return;
  std::string_view const message = message_of(event.fields);
  if (message == "found kernel" || message == "kernel uses") return add_kernel_facts(event.fields);
  bool const is_allocated = message == "allocated";
  if (!is_allocated && message != "freed") return;
  SpanRef const span = context.event_span(event);
  if (!span) return;
  if (!is_allocated) return free(last_of(span, "pointer", pointer_of));
  GroupSums* const group = group_of(tag_on(context.track()), context.track(), metadata.target());
  if (group != nullptr) add_allocation(*group, span, pointer_of(internal::value_named(event.fields, "pointer")));
}

void StatisticsLayer::add_allocation(GroupSums& group, SpanRef span, void const* pointer) {
  auto const bytes = last_of(span, "bytes", count_of);
  if (!bytes || pointer == nullptr) return;
  free(pointer);  // the end of an earlier allocation there was not recorded
  auto const device = last_of(span, "device", count_of);
  std::string const memory = device ? "GPU " + std::to_string(*device) : "host";
  Allocation const allocation{*bytes, &group.memory[{memory, name_of_caller(span)}], &group.memory[{memory, ""}]};
  allocation.of_span->allocate(*bytes);
  allocation.of_all->allocate(*bytes);
  allocations_.emplace(pointer, allocation);
}

void StatisticsLayer::free(void const* pointer) {
  auto const found = allocations_.find(pointer);
  if (found == allocations_.end()) return;
  found->second.of_span->free(found->second.bytes);
  found->second.of_all->free(found->second.bytes);
  allocations_.erase(found);
}

}}}  // namespace tracing::v1::internal
