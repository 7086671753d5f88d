// Declares what the formats share: spans from the root on, texts of spans that are made once, times, threads.
#pragma once

#include <cstddef>

#include "tracing_core/format/ansi.h"
#include "tracing_core/format/event_format.h"

namespace tracing::inline v1::internal {

// Calls `f(span)` for `leaf` and all spans above it, the outermost first. Any depth; no allocation.
template <class F>
inline void for_each_from_root(SpanRef leaf, F&& f) noexcept {
  constexpr std::size_t kRoom = 16;
  union Room {
    SpanRef spans[kRoom];
    Room() noexcept {}
  } room;
  std::size_t depth = 0;
  for (SpanRef span = leaf; span; span = span.parent()) {
    if (depth == kRoom) [[unlikely]] {
      return visit_from_root(leaf, [](void* context, SpanRef s) { (*static_cast<std::remove_reference_t<F>*>(context))(s); }, &f);
    }
    room.spans[depth++] = span;
  }
  while (depth > 0) f(room.spans[--depth]);
}

// Which text of a span it is: no two formats of different look share one.
inline void const* text_key(FieldFormat const& fields, TextStyle style, unsigned shape) noexcept {
  return reinterpret_cast<void const*>(fields.number() << 8 | shape << 2 | unsigned{style.ansi} << 1 | unsigned{style.sanitize});
}

// Appends the text of a span that `make(out)` makes, once for as long as no values are recorded.
template <class F>
inline void append_cached(TextBuffer& out, SpanRef span, void const* key, F&& make) noexcept {
  SpanLock const lock = span.lock();
  CachedText* const cached = span.cached_text(key);
  if (cached == nullptr) [[unlikely]] return make(out);
  std::uint32_t const groups = span.values().group_count();
  if (cached->group_count != groups) [[unlikely]] {
    cached->text.clear();
    make(cached->text);
    cached->group_count = groups;
  }
  out.append(cached->text.view());
}

// `main ThreadId(01) `, as full and compact print it.
void append_thread(TextBuffer& out, Track const& track, bool names, bool ids) noexcept;

// `ThreadId(1)`, the number with at least `digits` digits.
void append_thread_id(TextBuffer& out, Track const& track, unsigned digits) noexcept;

inline void append_level(TextBuffer& out, Level level, bool ansi) noexcept {
  append_painted(out, ansi, level_color(level), aligned_level(level));
  out.push_back(' ');
}

// The formats; made from options by make_event_format().
std::shared_ptr<EventFormat const> make_full(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_compact(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_pretty(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_json(FormatOptions const& options);

}  // namespace tracing::inline v1::internal
