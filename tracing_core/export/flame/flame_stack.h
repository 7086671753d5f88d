// FoldedStack: the spans that a track is in, as the text of a line of folded stacks.
//
// The text is not rebuilt for each line: a track keeps the text of its last line, and where each span's part ends in
// it, and makes the next text by cutting and appending,
//
//     enter a   ThreadId(1)-main            10      (it was in no span)
//     enter b   ThreadId(1)-main;a          20
//     exit b    ThreadId(1)-main;a;b        30
//     exit a    ThreadId(1)-main;a          40
//
// which is correct since a span's name and parent never change. Spans are identified by their ids, so parts of closed
// spans do no harm. Spans that are left out because the stack is too deep end where the frame `...` ends. Text that was
// cut off stays in the buffer, since the next span there usually has the same callsite.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace internal {

// Keeps the text of one track. Single-thread.
class FoldedStack {
 public:
  // Starts with a track that is in no span.
  void start(Track const& track, FlameOptions const& options) noexcept;
  std::uint64_t track_number() const noexcept { return track_number_; }
  bool is_of(Track const& track) const noexcept { return track_number_ == track.number && !root_.empty(); }
  // Changes the text to the stack of `span`, or to the track alone if `span` is empty. Returns false if memory ran out;
  // then the text is the track alone.
  bool go_to(SpanRef span, FlameOptions const& options) noexcept {
    SpanId const id = span ? span.id() : SpanId{};
    if (innermost_ == id) return true;
    innermost_ = id;
    return walk_to(span, options);
  }
  std::string_view text() const noexcept { return {text_.data(), end_}; }
  // Returns the number of spans, including spans that are left out of text().
  std::size_t depth() const noexcept { return depth_; }

 private:
  struct Frame {
    SpanId id;
    Metadata const* metadata;
    std::size_t end;  // of the span's part of the text
  };

  void start_again() noexcept;
  bool walk_to(SpanRef span, FlameOptions const& options) noexcept;
  void cut(std::size_t depth) noexcept {
    depth_ = depth;
    end_ = depth == 0 ? root_.size() : frames_[depth - 1].end;
  }
  void append_frame(SpanRef span, FlameOptions const& options);

  std::uint64_t track_number_ = 0;
  SpanId innermost_;           // the span of the text
  InlineTextBuffer<96> root_;  // the text of the track
  InlineTextBuffer<256> text_;
  std::vector<Frame> frames_;     // in the order of the text
  std::size_t depth_ = 0;         // the number of frames that are in the text; the others were cut off
  std::size_t end_ = 0;           // of the text
  std::vector<SpanRef> missing_;  // a member to reuse its memory
};

}}}  // namespace tracing::v1::internal
