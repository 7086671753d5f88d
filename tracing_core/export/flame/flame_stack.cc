#include "tracing_core/export/flame/flame_stack.h"

#include <new>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/model/text_scan.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 { namespace internal {
namespace {

// Returns a word with the high bit set in some byte if any byte is below a blank, a semicolon, or beyond ASCII.
constexpr Word needs_replacing(Word word) noexcept {
  return word | (word - kOnes * 0x20) | ((word ^ (kOnes * ';')) - kOnes);
}

// Appends a name. Replaces characters that would end the frame, the line, or a reader's text.
void append_name(TextBuffer& out, std::string_view name, FlameOptions const& options) noexcept {
  if (is_plain<needs_replacing>(name)) [[likely]]
    return out.append(name);
  while (!name.empty()) {
    DecodedChar const c = decode_utf8(name);
    if (c.value == U'\n' || c.value == U'\r' || c.value == U'\0') {
      out.push_back(' ');
    } else if (c.value == U';' && !options.as_tracing_flame) {
      out.push_back(':');
    } else if (!c.valid && !options.as_tracing_flame) {
      out.append("\xef\xbf\xbd");
    } else {
      out.append(name.substr(0, c.size));
    }
    name.remove_prefix(c.size);
  }
}

void append_root(TextBuffer& out, Track const& track, FlameOptions const& options) noexcept {
  if (options.threads_collapsed) return out.append("all-threads");
  out.append("ThreadId(");
  out.append_uint(track.number);
  out.append(")");
  if (track.name.empty()) return;
  out.push_back('-');
  append_name(out, track.name, options);
}

void append_span(TextBuffer& out, Metadata const& metadata, FlameOptions const& options) noexcept {
  out.push_back(';');
  std::string_view path = metadata.module_path();
  // Spans of macros have their namespace and class in the target only.
  if (path.data() == nullptr && !metadata.parts().owned) path = metadata.target();
  // tracing-flame writes `::` after an empty path, too.
  if (options.module_path && (options.as_tracing_flame ? path.data() != nullptr : !path.empty())) {
    append_name(out, path, options);
    out.append("::");
  }
  append_name(out, metadata.name(), options);
  if (!options.file_and_line) return;
  if (!metadata.file().empty()) {
    out.push_back(':');
    append_name(out, metadata.file(), options);
  }
  if (knows_line(metadata)) {
    out.push_back(':');
    out.append_uint(metadata.line());
  }
}

}  // namespace

void FoldedStack::start(Track const& track, FlameOptions const& options) noexcept {
  track_number_ = track.number;
  root_.clear();
  append_root(root_, track, options);
  start_again();
}

void FoldedStack::start_again() noexcept {
  innermost_ = {};
  frames_.clear();
  text_.clear();
  text_.append(root_.view());
  cut(0);
}

bool FoldedStack::walk_to(SpanRef span, FlameOptions const& options) noexcept {
  if (!span) {
    cut(0);
    return true;
  }
  try {
    SpanRef const first = span;
    std::size_t kept = 0;
    missing_.clear();
    for (; span; span = span.parent()) {
      SpanId const id = span.id();
      kept = depth_;
      while (kept > 0 && frames_[kept - 1].id != id) --kept;
      if (kept > 0) break;
      if (span != first) missing_.push_back(span);
    }
    cut(kept);
    for (std::size_t i = missing_.size(); i > 0; --i) append_frame(missing_[i - 1], options);
    if (span != first) append_frame(first, options);
    if (!text_.truncated()) [[likely]]
      return true;
  } catch (std::bad_alloc const&) {
  }
  start_again();
  return false;
}

void FoldedStack::append_frame(SpanRef span, FlameOptions const& options) {
  Metadata const& metadata = span.metadata();
  if (depth_ < frames_.size() && frames_[depth_].metadata == &metadata && !metadata.parts().owned) [[likely]] {
    frames_[depth_].id = span.id();
    return cut(depth_ + 1);
  }
  frames_.resize(depth_);
  text_.resize_down(end_);
  if (depth_ < options.max_frames || options.as_tracing_flame) {
    append_span(text_, metadata, options);
  } else if (depth_ == options.max_frames) {
    text_.append(";...");
  }
  frames_.push_back({span.id(), &metadata, text_.size()});
  cut(frames_.size());
}

}}}  // namespace tracing::v1::internal
