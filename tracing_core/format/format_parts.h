// Declares what the formats share: spans from the root on, texts of spans that are made once, times, threads.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "tracing_core/collect/span_store.h"
#include "tracing_core/format/ansi.h"
#include "tracing_core/format/event_format.h"
#include "tracing_core/format/scan.h"

namespace tracing::inline v1::internal {

// SpanRef::parent() without a call.
inline SpanSlot* parent_seen(SpanSlot const* slot, Verdict mask) noexcept {
  for (;;) {
    SpanSlot* const parent = slot->parent;
    if (parent == nullptr || parent->id.load(std::memory_order_relaxed) != slot->parent_id) return nullptr;
    if ((parent->verdict & mask) != 0) [[likely]] return parent;
    slot = parent;
  }
}

// The text of a span where it is made already and no other thread may change it; null else.
inline CachedText const* made_text(SpanSlot const& slot, void const* key) noexcept {
  CachedText const& cached = slot.texts[0];
  bool const usable = !slot.shared.load(std::memory_order_relaxed) && cached.key == key &&
                      cached.group_count == slot.values.group_count();
  return usable ? &cached : nullptr;
}

// Calls `f(span)` for `leaf` and all spans above it, the outermost first. Any depth; no allocation.
template <class F>
inline void for_each_from_root(SpanRef leaf, F&& f) noexcept {
  constexpr std::size_t kRoom = 16;
  SpanSlot* slots[kRoom];
  std::size_t depth = 0;
  for (SpanSlot* slot = leaf.slot(); slot != nullptr; slot = parent_seen(slot, leaf.mask())) {
    if (depth == kRoom) [[unlikely]] {
      return visit_from_root(
          leaf, [](void* context, SpanRef s) { (*static_cast<std::remove_reference_t<F>*>(context))(s); }, &f);
    }
    slots[depth++] = slot;
  }
  while (depth > 0) f(SpanRef(slots[--depth], leaf.mask()));
}

// Which text of a span it is: no two formats of different look share one.
inline void const* text_key(FieldFormat const& fields, TextStyle style, unsigned shape) noexcept {
  return reinterpret_cast<void const*>(fields.number() << 8 | shape << 3 | unsigned{style.sanitize_names} << 2 |
                                       unsigned{style.ansi} << 1 | unsigned{style.sanitize});
}

// What stands as a span's name.
inline std::string_view shown_span_name(Metadata const& span) noexcept { return span.is_perf() ? "perf" : span.name(); }

// Appends a name that may end the line or steer a terminal, between what paints it and what ends that.
void append_odd_name(TextBuffer& out, std::string_view paint, std::string_view name, std::string_view back) noexcept;

// Makes the text of a span as one format shows it.
class SpanTextMaker {
 public:
  virtual void append_span(TextBuffer& out, SpanRef span) const noexcept = 0;

 protected:
  ~SpanTextMaker() = default;
};

// What the formats for people have in common. ANSI is known when it is compiled: most of the text is constant then.
template <bool kAnsi>
class TextFormat : public EventFormat, protected SpanTextMaker {
 protected:
  // `fields`: those of the format, where the options have none; `place`: whether it shows the place in the source by itself;
  // `shape`: tells texts of spans as this format makes them from those of other formats.
  TextFormat(FormatOptions const& options, std::shared_ptr<FieldFormat const> fields, bool place, unsigned shape)
      : options_(options),
        timer_(options.timer.get()),
        fields_(options.fields != nullptr ? options.fields : std::move(fields)),
        style_{kAnsi, options.ansi_sanitization, options.name_sanitization},
        file_(options.file.value_or(place)),
        line_number_(options.line_number.value_or(place)),
        key_(text_key(*fields_, style_, shape)) {}

  bool shows_file(Metadata const& metadata) const noexcept { return file_ && !metadata.file().empty(); }
  bool shows_line(Metadata const& metadata) const noexcept { return line_number_ && metadata.line() != 0; }

  // Whether a name of the callsite is to be appended by append_odd_name(): those of the program's own text are clean.
  bool is_odd(Metadata const& metadata) const noexcept { return metadata.parts().has_odd_names && style_.sanitize_names; }

  // A name of the callsite.
  void append_name(TextBuffer& out, Metadata const& metadata, std::string_view paint, std::string_view name) const noexcept {
    if (is_odd(metadata)) [[unlikely]] return append_odd_name(out, kAnsi ? paint : "", name, kAnsi ? kReset : "");
    append_painted(out, kAnsi, paint, name);
  }

  FormatOptions const options_;
  Timer const* const timer_;
  std::shared_ptr<FieldFormat const> const fields_;
  TextStyle const style_;
  bool const file_;
  bool const line_number_;
  void const* const key_;
};

template <template <bool kAnsi> class Format>
std::shared_ptr<EventFormat const> make_text_format(FormatOptions const& options) {
  if (options.ansi) return std::make_shared<Format<true> const>(options);
  return std::make_shared<Format<false> const>(options);
}

// The text where it is not made yet, or where another thread may hold the span.
void append_cached_slowly(TextBuffer& out, SpanRef span, void const* key, SpanTextMaker const& maker) noexcept;

// Appends the text of a span, which is made once for as long as no values are recorded.
inline void append_cached(TextBuffer& out, SpanRef span, void const* key, SpanTextMaker const& maker) noexcept {
  CachedText const* const made = made_text(*span.slot(), key);
  if (made == nullptr) [[unlikely]] return append_cached_slowly(out, span, key, maker);
  if (char* const at = out.reserve(made->text.size())) {
    copy_short(at, made->text.view());
    out.commit(made->text.size());
  }
}

// Whether this is the one line of a perf span, that of its end: then its text is not worth keeping, and a span that keeps
// nothing closes in a few instructions.
inline bool prints_once(EventView const& event) noexcept {
  if (!event.metadata.is_perf()) [[likely]] return false;
  SpanSlot const& slot = *event.scope.slot();
  return slot.metadata->is_perf() && !slot.has_extras.load(std::memory_order_relaxed) &&
         !slot.shared.load(std::memory_order_relaxed);
}

// Keeps what stands in `out` from `begin` on as the text of `leaf` and all above it, unless another thread may hold the span.
void keep_path(TextBuffer const& out, std::size_t begin, SpanRef leaf, void const* key, std::uint64_t changes) noexcept;

// Appends what `make()` appends, a text of `leaf` and all above it: one copy, as a rule.
template <class F>
inline void append_path(TextBuffer& out, SpanRef leaf, void const* key, F&& make) noexcept {
  SpanSlot const& slot = *leaf.slot();
  CachedPath const& path = slot.path;
  std::uint64_t const changes = value_changes.load(std::memory_order_acquire);
  bool const made = path.key == key && path.mask == leaf.mask() && path.changes == changes;
  if (made && !slot.shared.load(std::memory_order_relaxed)) [[likely]] return out.append(path.text.view());
  std::size_t const begin = out.size();
  make();
  keep_path(out, begin, leaf, key, changes);
}

// `main ThreadId(01) `, as full and compact print it.
void append_thread(TextBuffer& out, Track const& track, bool names, bool ids) noexcept;

// `ThreadId(1)`, the number with at least `digits` digits.
void append_thread_id(TextBuffer& out, Track const& track, unsigned digits) noexcept;

inline void append_level(TextBuffer& out, Level level, bool ansi) noexcept {
  if (ansi) out.append(level_color(level));
  if (char* const at = out.reserve(8)) {
    std::memcpy(at, aligned_level(level).data(), 8);  // in one move; the blanks behind are written over
    out.commit(ansi ? 5 : 6);
  }
  if (ansi) {
    out.append(kReset);
    out.push_back(' ');
  }
}

// `target: `
inline void append_target(TextBuffer& out, std::string_view target, bool ansi) noexcept {
  if (ansi) {
    append_painted(out, true, kDim, target);
    append_painted(out, true, kDim, ":");
    out.push_back(' ');
  } else if (char* at = out.reserve(target.size() + 2)) {
    at = copy_short(at, target);
    at[0] = ':';
    at[1] = ' ';
    out.commit(target.size() + 2);
  }
}

// As tracing::append_time(), where there is a timer.
inline void append_known_time(TextBuffer& out, Timer const& timer, EventView const& event, bool ansi) noexcept {
  if (ansi) out.append(kDim);
  if (!timer.append(out, event.context.time())) [[unlikely]] out.append("<unknown time>");
  if (ansi) out.append(kReset);
  out.push_back(' ');
}

// The formats; made from options by make_event_format().
std::shared_ptr<EventFormat const> make_full(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_compact(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_pretty(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_json(FormatOptions const& options);

}  // namespace tracing::inline v1::internal
