// Declares FoldedStack, the text of the spans that a track is in, as a line of folded stacks has it.
//
// A stack's text is not made anew for each line: a track keeps the one of its last line and where each span's part ends, and
// goes from there to the next by cutting and appending,
//
//     enter a   ThreadId(1)-main            10      (it was in no span)
//     enter b   ThreadId(1)-main;a          20
//     exit b    ThreadId(1)-main;a;b        30
//     exit a    ThreadId(1)-main;a          40
//
// which is right as a span's names and parents never change. Spans are told by their ids: what is kept of one that is long
// closed does no harm, as nothing asks for it. What stands for a span is the same for all spans of its callsite, and kept; what
// was cut off stays behind the text, since the next span there is most often of the same callsite.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tracing_core/collect/span_store.h"
#include "tracing_core/export/flame.h"
#include "tracing_core/model/ids.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing::inline v1::internal {

// Single-thread.
class FoldedStack {
 public:
  // Makes it that of a track in no span.
  void start(Track const& track, FlameOptions const& options) noexcept;
  std::uint64_t track_number() const noexcept { return track_number_; }
  // Makes the text that of `span`, of the track where that is empty. False where memory ran out: then it is that of the track.
  bool go_to(SpanRef span, FlameOptions const& options) noexcept {
    SpanId const id = span ? span.slot()->span_id() : SpanId{};
    if (innermost_ == id) return true;
    innermost_ = id;
    return walk_to(span, options);
  }
  std::string_view text() const noexcept { return {text_.data(), end_}; }

 private:
  struct Frame {
    SpanId id;
    Metadata const* metadata;
    std::size_t end;  // of its part of the text
  };
  // What stands for a callsite's spans: a part of names_.
  struct Name {
    Metadata const* metadata = nullptr;
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  static constexpr std::size_t kMostNameBytes = 16 * 1024;

  void start_again() noexcept;
  bool walk_to(SpanRef span, FlameOptions const& options) noexcept;
  void cut(std::size_t depth) noexcept {
    depth_ = depth;
    end_ = depth == 0 ? root_.size() : frames_[depth - 1].end;
  }
  void append_frame(SpanRef span, FlameOptions const& options);
  void append_new_name(Metadata const& metadata, FlameOptions const& options) noexcept;
  void forget_names() noexcept;

  std::uint64_t track_number_ = 0;
  SpanId innermost_;           // what the text is that of
  InlineTextBuffer<96> root_;  // what stands for the track
  InlineTextBuffer<256> text_;
  std::vector<Frame> frames_;   // in the order of the text
  std::size_t depth_ = 0;       // that many of them are in it, and were cut off behind
  std::size_t end_ = 0;         // the text's
  std::vector<SpanRef> missing_;  // here for its memory alone
  std::array<Name, 32> known_names_;
  TextBuffer names_;
};

}  // namespace tracing::inline v1::internal
