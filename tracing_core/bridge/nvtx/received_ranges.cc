#include "tracing_core/bridge/nvtx/received_ranges.h"

#include <array>
#include <atomic>
#include <vector>

#include "tracing_core/bridge/nvtx/thread_object.h"
#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 { namespace bridge { namespace nvtx {
namespace {

using internal::thread_state;

Value category_value(RangeData const& range) noexcept {
  if (range.category == 0) return {};
  Category const* const category = range.domain.category(range.category);
  return category == nullptr ? Value::of_u64(range.category) : Value::of_text(category->name);
}

Value text_value(std::string_view text) noexcept { return text.data() == nullptr ? Value() : Value::of_verbatim(text); }

// A callsite and its values. The array has room for the callsite of a domain, which has the most fields.
struct Statement {
  Callsite* callsite;
  std::array<Value, 3> values;
};

Statement span_of(RangeData const& range) {
  RangeName const* name = range.name;
  if (name == nullptr || name->domain != &range.domain) {
    name = range.text.data() == nullptr ? nullptr : find_or_add_name(range.domain, range.text);
  }
  if (name != nullptr && name->span) return {&name->span->callsite(), {category_value(range), range.payload, Value()}};
  Value const text = range.text.data() == nullptr ? Value() : Value::of_text(range.text);
  return {&range.domain.range(), {text, category_value(range), range.payload}};
}

// The ranges that a thread is in, in the order in which it pushed them. NVTX nests the ranges of each domain for
// itself.
// A registry leaves the spans of a thread that ends.
struct PushedRange {
  Domain const* domain;
  OpenSpan span;  // without an id if nobody wants it
};
struct ThreadRanges {
  std::vector<PushedRange> pushed{};
  std::size_t dropped = 0;  // pushed beyond kMaxPushed, and not yet popped

  int count(Domain const& domain) const noexcept {
    int count = 0;
    for (PushedRange const& range : pushed) count += range.domain == &domain ? 1 : 0;
    return count;
  }
};

// Opens a span, and enters it if the thread does.
OpenSpan open_span(RangeData const& range, bool is_entered) {
  Statement const statement = span_of(range);
  LayerMask const mask = statement.callsite->enabled();
  if (mask == 0) return {};
  if (!is_entered) return internal::dispatch_new_span(*statement.callsite, mask, statement.values.data(), {});
  return internal::dispatch_open_scope(nullptr, statement.callsite->metadata(), mask, statement.values.data());
}

// The ranges that were started: the place of number n is n % kMaxStarted. The id is 0 if the place is free.
struct StartedRange {
  std::atomic<std::uint64_t> id{0};
  OpenSpan span{};
};
constexpr std::uint64_t kBusy = ~std::uint64_t{0};
constinit std::array<StartedRange, kMaxStarted> started{};
constinit std::atomic<std::uint64_t> next_started{1};

std::uint64_t keep_started(OpenSpan span) noexcept {
  constexpr int kProbes = 64;
  for (int i = 0; i < kProbes; ++i) {
    std::uint64_t const id = next_started.fetch_add(1, std::memory_order_relaxed);
    StartedRange& place = started[id % kMaxStarted];
    std::uint64_t expected = 0;
    if (!place.id.compare_exchange_strong(expected, kBusy, std::memory_order_acquire)) continue;
    place.span = span;
    place.id.store(id, std::memory_order_release);
    return id;
  }
  return 0;
}

}  // namespace

int push_range(RangeData const& range) noexcept {
  ThreadRanges* const ranges = thread_object<ThreadRanges>();
  if (ranges == nullptr) return kNoRange;
  try {
    if (ranges->pushed.size() == kMaxPushed) {
      ++ranges->dropped;
      return kNoRange;
    }
    int const level = ranges->count(range.domain);
    ranges->pushed.push_back({&range.domain, {}});
    // Within the subscriber the thread may hold the locks that a new callsite takes.
    if (!thread_state.in_subscriber) ranges->pushed.back().span = open_span(range, true);
    return level;
  } catch (...) {  // out of memory
    return kNoRange;
  }
}

int pop_range(Domain const& domain) noexcept {
  ThreadRanges* const ranges = thread_object<ThreadRanges>();
  if (ranges == nullptr || thread_state.in_subscriber) return kNoRange;
  if (ranges->dropped > 0) {
    --ranges->dropped;
    return kNoRange;
  }
  auto& pushed = ranges->pushed;
  for (std::size_t i = pushed.size(); i-- > 0;) {
    if (pushed[i].domain != &domain) continue;
    OpenSpan const span = pushed[i].span;
    if (span.id) span.subscriber->close_scope(span.id);
    pushed.erase(pushed.begin() + static_cast<std::ptrdiff_t>(i));
    return ranges->count(domain);
  }
  return kNoRange;
}

std::uint64_t start_range(RangeData const& range) noexcept {
  if (thread_state.in_subscriber) return 0;
  try {
    OpenSpan const span = open_span(range, false);
    if (!span.id) return 0;
    std::uint64_t const id = keep_started(span);
    if (id == 0) internal::drop_reference(span);
    return id;
  } catch (...) {  // out of memory
    return 0;
  }
}

void end_range(std::uint64_t id) noexcept {
  if (id == 0 || id == kBusy) return;
  StartedRange& place = started[id % kMaxStarted];
  std::uint64_t expected = id;
  if (!place.id.compare_exchange_strong(expected, kBusy, std::memory_order_acquire)) return;
  OpenSpan const span = place.span;
  place.id.store(0, std::memory_order_release);
  internal::drop_reference(span);
}

void emit_mark(RangeData const& mark) noexcept {
  if (thread_state.in_subscriber) return;
  Callsite& callsite = mark.domain.mark();
  LayerMask const mask = callsite.enabled();
  if (mask == 0) return;
  std::array const values{text_value(mark.text), category_value(mark), mark.payload};
  internal::dispatch_event(nullptr, callsite.metadata(), mask, values.data());
}

}}}}  // namespace tracing::v1::bridge::nvtx
