// SpanPrefix: the spans in front of lines that are read together, short enough to leave the message in sight.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// Decides which fields of spans a line has:
///
/// * A line has all fields if its spans take at most kSpans characters.
/// * Any other line leaves out fields, the outermost span's first, until its spans are as short as that. Fields stay if
///   they take at most kField characters, and fields of perf spans, since the name of such a span is among them.
/// * When fields are left out for the first time, or for the first time after one of the span's values changed, a line
///   above has them: `   in request{path="/items/42" remote="127.0.0.1"}`.
/// * If the fields of two open spans of one name and parent were left out, the later span has a number in all such
///   lines: `request#2`. The number is free again when the span ends.
///
/// So the nearest line above with the fields of `request#2` says which request it is. Keeps its state with the spans.
/// Single-thread: made for replayed records.
class SpanPrefix {
 public:
  static constexpr std::size_t kField = 16;  ///< without the braces
  static constexpr std::size_t kSpans = 60;

  SpanPrefix();
  SpanPrefix(SpanPrefix const&) = delete;
  SpanPrefix& operator=(SpanPrefix const&) = delete;
  ~SpanPrefix();

  /// Called before the level of a line is appended to `out`. What is before it, such as the time, is the line's label.
  void begin_line(TextBuffer const& out) noexcept { label_end_ = out.size(); }
  /// Called before and after the spans of a line are appended.
  void begin_spans(TextBuffer const& out) noexcept;
  void end_spans(TextBuffer const& out) noexcept { spans_end_ = out.size(); }
  /// Called after the fields of a span were appended from `begin` on, the outermost span first.
  void add_fields(TextBuffer const& out, std::size_t begin, SpanRef span) noexcept;
  /// Called after a line was appended from `begin` on. Leaves out fields, and inserts lines above, each with the line's
  /// label. Leaves out nothing if memory runs out.
  void end_line(TextBuffer& out, std::size_t begin) noexcept;

  class Numbers;

 private:
  // Long fields in the text of the line.
  struct Fields {
    std::size_t begin, end;
    std::size_t width;  // in visible characters
    SpanRef span;
  };

  bool select(std::size_t width) noexcept;
  void append_short(TextBuffer& out, std::string_view text, std::size_t begin, std::size_t end) const;
  void shorten(TextBuffer& out, std::size_t begin) const;

  std::shared_ptr<Numbers> const of_roots_;
  std::size_t label_end_ = 0, spans_begin_ = 0, spans_end_ = 0;  // in the text of the line
  std::vector<Fields> fields_;
};

}}  // namespace tracing::v1
