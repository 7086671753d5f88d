#include "tracing_core/format/event_format.h"

#include <algorithm>
#include <atomic>

#include "tracing_core/format/format_parts.h"
#include "tracing_core/model/text_escape.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 {
namespace {

// The length of the longest thread name seen so far, in bytes.
constinit std::atomic<std::size_t> longest_thread_name{0};

std::size_t note_thread_name(std::size_t size) noexcept {
  std::size_t longest = longest_thread_name.load(std::memory_order_relaxed);
  while (size > longest && !longest_thread_name.compare_exchange_weak(longest, size, std::memory_order_relaxed)) {
  }
  return std::max(size, longest);
}

}  // namespace

std::shared_ptr<EventFormat const> make_event_format(FormatOptions const& options) {
  switch (options.kind) {
    case FormatKind::compact: return formatting::make_compact(options);
    case FormatKind::pretty: return formatting::make_pretty(options);
    case FormatKind::json: return formatting::make_json(options);
    case FormatKind::full: break;
  }
  return formatting::make_full(options);
}

void visit_from_root(SpanRef leaf, void (*visit)(void* context, SpanRef span), void* context) noexcept {
  // Visits kRoom spans at a time, which it finds from the nearest of up to kRoom marks. So any depth works without
  // allocation.
  constexpr std::size_t kRoom = 128;
  std::size_t depth = 0;
  for (SpanRef span = leaf; span; span = span.parent()) ++depth;
  std::size_t const stride = kRoom * (depth / (kRoom * kRoom) + 1);
  SpanRef marks[kRoom] = {leaf};  // `leaf` and every stride-th span above it
  for (std::size_t i = 1; i * stride < depth; ++i) {
    marks[i] = marks[i - 1];
    for (std::size_t step = 0; step < stride; ++step) marks[i] = marks[i].parent();
  }
  while (depth > 0) {
    std::size_t const run = (depth - 1) % kRoom + 1;
    SpanRef spans[kRoom];
    SpanRef span = marks[(depth - run) / stride];
    for (std::size_t i = 0; i < (depth - run) % stride; ++i) span = span.parent();
    for (std::size_t i = 0; i < run; ++i, span = span.parent()) spans[i] = span;
    for (std::size_t i = run; i-- > 0;) visit(context, spans[i]);
    depth -= run;
  }
}

void append_time(TextBuffer& out, Timer const* timer, EventView const& event, TextStyle style) noexcept {
  if (timer != nullptr) formatting::append_known_time(out, *timer, event, style.ansi);
}

namespace formatting {

std::size_t visible_characters(std::string_view text) noexcept {
  std::size_t characters = support::count_characters(text);
  for (std::size_t at = text.find('\x1b'); at != text.npos; at = text.find('\x1b', at + 1)) {
    characters -= std::min(text.find('m', at), text.size() - 1) - at + 1;
  }
  return characters;
}

void append_escaped_name(TextBuffer& out, std::string_view before, std::string_view name,
                         std::string_view after) noexcept {
  out.append(before);
  append_sanitized_in_line(out, name);
  out.append(after);
}

void keep_path(TextBuffer const& out, std::size_t begin, SpanRef leaf, void const* key,
               std::uint64_t changes) noexcept {
  constexpr std::size_t kMaxKept = 4096;
  if (leaf.is_shared() || out.truncated() || out.size() - begin > kMaxKept) return;
  CachedPath* const cached = leaf.cached_path();
  if (cached == nullptr) return;
  CachedPath& path = *cached;
  bool const again = path.key == key && path.mask == leaf.mask();
  if (!again && path.key != nullptr) return;  // another format uses the cached path
  path.key = key;
  path.mask = leaf.mask();
  if (!again) return;  // a path is cached only when it is needed again, since many spans have only one event
  path.text.clear();
  path.text.append(out.view().substr(begin));
  path.changes = path.text.truncated() ? 0 : changes;
}

void append_cached_slowly(TextBuffer& out, SpanRef span, void const* key, SpanTextMaker const& maker) noexcept {
  SpanLock const lock = span.lock();
  CachedText* const cached = span.cached_text(key);
  if (cached == nullptr) return maker.append_span(out, span);
  std::uint32_t const changes = span.values().changes();
  if (cached->changes != changes) {
    cached->text.clear();
    maker.append_span(cached->text, span);
    cached->changes = changes;
  }
  if (!cached->text.empty()) out.append(cached->text.view());
}

void append_thread_id(TextBuffer& out, Track const& track, unsigned digits) noexcept {
  out.append("ThreadId(");
  if (digits == 2 && track.number < 10) out.push_back('0');
  out.append_uint(track.number);
  out.push_back(')');
}

void append_thread_name(TextBuffer& out, std::string_view name, FormatOptions const& options) noexcept {
  options.name_sanitization ? append_sanitized_in_line(out, name) : out.append(name);
}

void append_thread(TextBuffer& out, Track const& track, FormatOptions const& options) noexcept {
  bool const names = options.thread_names;
  if (names && !track.name.empty()) {
    std::size_t const width = note_thread_name(track.name.size());
    std::size_t const characters = support::count_characters(track.name);
    if (characters < width) out.append(width - characters, ' ');
    append_thread_name(out, track.name, options);
    out.push_back(' ');
  }
  if (options.thread_ids || (names && track.name.empty())) {
    append_thread_id(out, track, 2);
    out.push_back(' ');
  }
}

}  // namespace formatting
}}  // namespace tracing::v1
