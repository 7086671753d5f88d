// Code shared by the formats: visiting spans from the root, cached text of spans, times and threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/format/ansi.h"
#include "tracing_core/format/event_format.h"
#include "tracing_core/model/text_scan.h"

namespace tracing { inline namespace v1 { namespace formatting {

// The most spans that a line shows. Only the innermost spans are shown, so that a line stays short and cheap however
// deep a recursion is.
inline constexpr std::size_t kMaxShownSpans = 100;
inline constexpr std::string_view kMoreSpans = "...";  // shown in place of the outer spans

template <std::size_t kRoom>
union SpanRoom {
  SpanRoom() noexcept {}  // leaves the spans uninitialized
  SpanRef spans[kRoom];
};

template <class F, class More>
[[gnu::noinline]] void for_each_of_many(SpanRef leaf, F& f, More& more) noexcept {
  SpanRoom<kMaxShownSpans> room;
  std::size_t depth = 0;
  SpanRef span = leaf;
  for (; span && depth < kMaxShownSpans; span = span.parent()) room.spans[depth++] = span;
  if (span) more();
  while (depth > 0) f(room.spans[--depth]);
}

// Calls `f(span)` for `leaf` and its ancestors, outermost first. If there are more than kMaxShownSpans, calls `more()`
// first and omits the outermost spans.
template <class F, class More>
inline void for_each_from_root(SpanRef leaf, F&& f, More&& more) noexcept {
  constexpr std::size_t kRoom = 16;
  SpanRoom<kRoom> room;
  std::size_t depth = 0;
  for (SpanRef span = leaf; span; span = span.parent()) {
    if (depth == kRoom) [[unlikely]]
      return for_each_of_many(leaf, f, more);
    room.spans[depth++] = span;
  }
  while (depth > 0) f(room.spans[--depth]);
}

// Returns a key for a span's cached text. Formats that print spans differently have different keys.
inline void const* text_key(FieldFormat const& fields, TextStyle style, unsigned shape) noexcept {
  return reinterpret_cast<void const*>(fields.number() << 10 | unsigned{style.shorten_span_values} << 9 |
                                       unsigned{style.all_values} << 8 | shape << 4 |
                                       unsigned{style.sanitize_values} << 3 | unsigned{style.sanitize_names} << 2 |
                                       unsigned{style.ansi} << 1 | unsigned{style.sanitize});
}

// Returns the name that is printed for a span.
inline std::string_view printed_name(Metadata const& span) noexcept { return span.is_perf() ? "perf" : span.name(); }

// Returns how many characters a terminal shows. Escape sequences, which only colours are, end with the letter m.
std::size_t visible_characters(std::string_view text) noexcept;

// Appends `before`, the name with its control characters escaped, and `after`.
void append_escaped_name(TextBuffer& out, std::string_view before, std::string_view name,
                         std::string_view after) noexcept;

// Appends `text, name: value`, with `text_prefix` before a message, `key_prefix` and `key_suffix` around names.
void append_pretty_fields(TextBuffer& out, FieldValues const& fields, TextStyle style, std::string_view text_prefix,
                          std::string_view key_prefix, std::string_view key_suffix, bool first) noexcept;

// Appends the text of a span in one format.
class SpanTextMaker {
 public:
  virtual void append_span(TextBuffer& out, SpanRef span) const noexcept = 0;

 protected:
  ~SpanTextMaker() = default;
};

// The base of full, compact and pretty. The use of ANSI colours is a template parameter, so that most of the text is
// constant.
template <bool kAnsi>
class TextFormat : public EventFormat, protected SpanTextMaker {
 protected:
  // `fields` is used if the options do not name a field format. `location` is the default for file and line. `shape`
  // distinguishes the cached texts of this format from the cached texts of other formats.
  TextFormat(FormatOptions const& options, std::shared_ptr<FieldFormat const> fields, bool location, unsigned shape)
      : options_(options),
        timer_(options.timer.get()),
        fields_(options.fields != nullptr ? options.fields : std::move(fields)),
        style_{kAnsi,
               options.ansi_sanitization,
               options.name_sanitization,
               options.value_sanitization,
               options.shorten_span_values,
               options.all_values},
        file_(options.file.value_or(location)),
        line_number_(options.line_number.value_or(location)),
        key_(text_key(*fields_, style_, shape)) {}

  bool shows_file(Metadata const& metadata) const noexcept { return file_ && !metadata.file().empty(); }
  bool shows_line(Metadata const& metadata) const noexcept { return line_number_ && knows_line(metadata); }

  // Returns true if the names of a callsite must be appended by append_escaped_name(). Names from source code never
  // need it.
  bool needs_escaping(Metadata const& metadata) const noexcept {
    return metadata.parts().has_names_to_escape && style_.sanitize_names;
  }

  // Appends the name or target of a callsite in a colour.
  void append_name(TextBuffer& out, Metadata const& metadata, std::string_view color,
                   std::string_view name) const noexcept {
    if (needs_escaping(metadata)) [[unlikely]]
      return append_escaped_name(out, kAnsi ? color : "", name, kAnsi ? kReset : "");
    append_painted(out, kAnsi, color, name);
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

// Slow path of append_cached(), if the text is out of date or another thread may use the span.
void append_cached_slowly(TextBuffer& out, SpanRef span, void const* key, SpanTextMaker const& maker) noexcept;

// Appends the text of a span. The text is cached until values are recorded.
inline void append_cached(TextBuffer& out, SpanRef span, void const* key, SpanTextMaker const& maker) noexcept {
  CachedText const* const made = span.current_text(key);
  if (made == nullptr) [[unlikely]]
    return append_cached_slowly(out, span, key, maker);
  if (char* const at = out.reserve(made->text.size())) {
    internal::copy_short(at, made->text.view());
    out.commit(made->text.size());
  }
}

// Returns true if the line at the end of a perf span is the only line that the span prints. The span's text is then not
// worth caching, since a span without cached text closes in fewer instructions.
inline bool prints_once(EventView const& event) noexcept {
  if (!event.metadata.is_perf()) [[likely]]
    return false;
  return event.scope.metadata().is_perf() && !event.scope.has_extras() && !event.scope.is_shared();
}

// Caches the text in `out` from `begin` on as the path of `leaf`, unless another thread may use the span.
void keep_path(TextBuffer const& out, std::size_t begin, SpanRef leaf, void const* key, std::uint64_t changes) noexcept;

// Appends the path of `leaf`: the texts of its ancestors and its own text. If the path is not cached, `make()` appends
// it.
template <class F>
inline void append_path(TextBuffer& out, SpanRef leaf, void const* key, F&& make) noexcept {
  std::uint64_t const changes = SpanRef::value_changes();
  if (TextBuffer const* const path = leaf.current_path(key, changes)) [[likely]]
    return out.append(path->view());
  std::size_t const begin = out.size();
  make();
  keep_path(out, begin, leaf, key, changes);
}

// Appends `main ThreadId(01) `, as in full and compact.
void append_thread(TextBuffer& out, Track const& track, FormatOptions const& options) noexcept;
// Appends the name of a thread, sanitized if the options say so.
void append_thread_name(TextBuffer& out, std::string_view name, FormatOptions const& options) noexcept;

// Appends `ThreadId(1)`, the number with at least `digits` digits.
void append_thread_id(TextBuffer& out, Track const& track, unsigned digits) noexcept;

inline void append_level(TextBuffer& out, Level level, bool ansi) noexcept {
  if (ansi) out.append(level_color(level));
  if (char* const at = out.reserve(8)) {
    std::memcpy(at, aligned_level(level).data(), 8);  // in one move; later text overwrites the padding
    out.commit(ansi ? 5 : 6);
  }
  if (ansi) {
    out.append(kReset);
    out.push_back(' ');
  }
}

// Appends `target: `.
inline void append_target(TextBuffer& out, std::string_view target, bool ansi) noexcept {
  if (ansi) {
    append_painted(out, true, kDim, target);
    append_painted(out, true, kDim, ":");
    out.push_back(' ');
  } else if (char* at = out.reserve(target.size() + 2)) {
    at = internal::copy_short(at, target);
    at[0] = ':';
    at[1] = ' ';
    out.commit(target.size() + 2);
  }
}

// Does what tracing::append_time() does, with a timer that is known to exist.
inline void append_known_time(TextBuffer& out, Timer const& timer, EventView const& event, bool ansi) noexcept {
  if (ansi) out.append(kDim);
  if (!timer.append(out, event.context.time())) [[unlikely]]
    out.append("<unknown time>");
  if (ansi) out.append(kReset);
  out.push_back(' ');
}

// Called by make_event_format(). Values of `shape`, each for one TextFormat: full 0, compact 1, pretty 2 with the
// target and 3 without it.
std::shared_ptr<EventFormat const> make_full(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_compact(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_pretty(FormatOptions const& options);
std::shared_ptr<EventFormat const> make_json(FormatOptions const& options);

}}}  // namespace tracing::v1::formatting
