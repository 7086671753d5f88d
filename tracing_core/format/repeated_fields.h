// RepeatedFields: leaves fields of spans out of a line if the line above has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/format/span_prefix.h"
#include "tracing_core/model/level.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 {

/// Decides which fields of spans a line has that is printed as it happens:
///
/// * A line has all fields if its spans take at most kSpans characters, or if its level is ERROR or WARN.
/// * Any other line has `{...}` in place of fields that are unchanged since the line above, the outermost span's first,
///   until its spans are as short as that. Fields stay if they take at most kField characters, and so do fields of perf
///   spans.
/// * A line has all fields if anything else was written since the thread's last line, and after kMaxLines lines without
///   all of them.
///
/// So the fields are on one of the kMaxLines lines above. Takes a kilobyte for each thread. Thread-safe: a thread knows
/// only its own last line.
class RepeatedFields {
 public:
  static constexpr std::size_t kField = SpanPrefix::kField;
  static constexpr std::size_t kSpans = SpanPrefix::kSpans;
  static constexpr unsigned kMaxLines = 20;
  static constexpr std::size_t kMaxSpans = 16;  ///< spans below the outermost sixteen keep their fields

  explicit RepeatedFields(bool ansi) noexcept : ansi_(ansi) {}
  RepeatedFields(RepeatedFields const&) = delete;
  RepeatedFields& operator=(RepeatedFields const&) = delete;

  /// Called before the spans of a line are appended; `leaf` is the innermost span, or empty.
  void begin_spans(SpanRef leaf) const noexcept;
  /// Returns true if spans of so many bytes may be shortened. The caller then appends them again, with add_fields() and
  /// end_spans().
  bool wants_fields(std::size_t bytes, Level level) const noexcept {
    return bytes > kSpans && level > Level::warn && repeats_outermost();
  }
  /// Called after each span's fields were appended from `begin` on, the outermost span first.
  void add_fields(TextBuffer const& out, std::size_t begin, SpanRef span) const noexcept;
  /// Called after the spans were appended from `begin` on.
  void end_spans(TextBuffer const& out, std::size_t begin) const noexcept;
  /// Called after a line was made that will be written, with the number of writes to the output before it. Leaves out
  /// fields.
  void end_line(TextBuffer& out, std::uint64_t writes) const noexcept;

 private:
  bool repeats_outermost() const noexcept;
  bool shorten(TextBuffer& out) const noexcept;

  bool const ansi_;
};

}}  // namespace tracing::v1
