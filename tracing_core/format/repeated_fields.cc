#include "tracing_core/format/repeated_fields.h"

#include <algorithm>

#include "tracing_core/format/format_parts.h"

namespace tracing { inline namespace v1 {
namespace {

// A span with the values that a line has.
struct ShownSpan {
  SpanId id;
  std::uint32_t changes;
  friend bool operator==(ShownSpan const&, ShownSpan const&) = default;
};

struct ShownSpans {
  std::size_t count;
  ShownSpan spans[RepeatedFields::kMaxSpans];  // the outermost
};

// Fields in the text of the line that may be left out.
struct LongFields {
  std::size_t begin, end;
  std::size_t width;  // in visible characters
  std::size_t span;   // in ShownSpans
};

// Constant-initialised and trivially destroyed, so that it is valid after the thread's destructors.
struct ThisThread {
  // The thread's last line:
  RepeatedFields const* owner;
  std::uint64_t writes;  // to the output, including the line
  unsigned short_lines;  // since a line had all fields
  ShownSpans last;
  // The line that the thread is making:
  ShownSpans now;
  std::size_t begin, end;  // of the spans in its text
  std::size_t added;       // spans for which add_fields() was called
  std::size_t count;
  LongFields fields[RepeatedFields::kMaxSpans];
};
constinit thread_local ThisThread this_thread{};

bool is_repeated(ThisThread const& thread, std::size_t span) noexcept {
  return span < thread.last.count && thread.last.spans[span] == thread.now.spans[span];
}

}  // namespace

void RepeatedFields::begin_spans(SpanRef leaf) const noexcept {
  ThisThread& thread = this_thread;
  thread.now.count = thread.added = thread.count = 0;
  // Notes the changes before the text is made: if another thread records a value meanwhile, the next line has it.
  auto const note = [&](SpanRef span) {
    if (thread.now.count == kMaxSpans) return;
    SpanLock const lock = span.lock();
    thread.now.spans[thread.now.count++] = {span.id(), span.values().changes()};
  };
  formatting::for_each_from_root(leaf, note, [] {});
}

bool RepeatedFields::repeats_outermost() const noexcept {
  ThisThread const& thread = this_thread;
  return thread.owner == this && is_repeated(thread, 0);
}

void RepeatedFields::add_fields(TextBuffer const& out, std::size_t begin, SpanRef span) const noexcept {
  constexpr std::size_t kBraces = 2;
  ThisThread& thread = this_thread;
  std::size_t const index = thread.added++;
  if (!is_repeated(thread, index) || index >= thread.now.count || span.metadata().is_perf()) return;
  std::size_t const width = formatting::visible_characters(out.view().substr(begin));
  if (width > kField + kBraces) thread.fields[thread.count++] = {begin, out.size(), width, index};
}

void RepeatedFields::end_spans(TextBuffer const& out, std::size_t begin) const noexcept {
  this_thread.begin = begin;
  this_thread.end = out.size();
}

// Returns true if fields were left out.
bool RepeatedFields::shorten(TextBuffer& out) const noexcept {
  ThisThread const& thread = this_thread;
  constexpr std::size_t kShort = 5;  // `{...}`
  std::size_t width = formatting::visible_characters(out.view().substr(thread.begin, thread.end - thread.begin));
  InlineTextBuffer<2048> rest;  // what follows the first fields that are left out
  std::size_t at = 0;
  for (std::size_t i = 0; i < thread.count && width > kSpans; ++i) {
    LongFields const& fields = thread.fields[i];
    if (at > 0) rest.append(out.view().substr(at, fields.begin - at));
    formatting::append_painted(rest, ansi_, formatting::kBold, "{");
    rest.append("...");
    formatting::append_painted(rest, ansi_, formatting::kBold, "}");
    at = fields.end;
    width -= fields.width - kShort;
  }
  if (at == 0) return false;
  rest.append(out.view().substr(at));
  if (rest.truncated()) return false;  // out of memory: the line has all fields
  out.resize_down(thread.fields[0].begin);
  out.append(rest.view());
  return true;
}

void RepeatedFields::end_line(TextBuffer& out, std::uint64_t writes) const noexcept {
  ThisThread& thread = this_thread;
  bool const follows = thread.owner == this && thread.writes == writes && thread.short_lines < kMaxLines;
  bool const is_short = follows && thread.count > 0 && shorten(out);
  thread.short_lines = is_short ? thread.short_lines + 1 : 0;
  thread.owner = this;
  thread.writes = writes + 1;
  thread.last.count = thread.now.count;
  std::copy_n(thread.now.spans, thread.now.count, thread.last.spans);
}

}}  // namespace tracing::v1
