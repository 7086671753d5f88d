#include "tracing_core/export/flame_stack.h"

#include <new>

#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/format/scan.h"
#include "tracing_core/internal/utf8.h"

namespace tracing::inline v1::internal {
namespace {

// The high bit of some byte is set where a byte is below a blank, is a semicolon or is beyond ASCII.
constexpr Word needs_replacing(Word word) noexcept {
  return word | (word - kOnes * 0x20) | ((word ^ (kOnes * ';')) - kOnes);
}

// Without what would end the frame, the line, or the text of those who read it.
void append_name(TextBuffer& out, std::string_view name, FlameOptions const& options) noexcept {
  if (is_plain<needs_replacing>(name)) [[likely]] return out.append(name);
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
  // Macros keep the namespace and class as the target alone.
  if (path.data() == nullptr && !metadata.parts().owned) path = metadata.target();
  // The reference has a path that is empty, too.
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

// Which of a few places is a callsite's; those that follow each other in memory have others.
std::size_t place_of(Metadata const& metadata, std::size_t places) noexcept {
  auto const address = reinterpret_cast<std::uintptr_t>(&metadata);
  return (address / alignof(Metadata) * 0x9E3779B97F4A7C15 >> 32) % places;
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
      SpanId const id = span.slot()->span_id();
      kept = depth_;
      while (kept > 0 && frames_[kept - 1].id != id) --kept;
      if (kept > 0) break;
      if (span != first) missing_.push_back(span);
    }
    cut(kept);
    for (std::size_t i = missing_.size(); i > 0; --i) append_frame(missing_[i - 1], options);
    if (span != first) append_frame(first, options);
    if (!text_.truncated()) [[likely]] return true;
  } catch (std::bad_alloc const&) {
  }
  start_again();
  return false;
}

void FoldedStack::append_frame(SpanRef span, FlameOptions const& options) {
  Metadata const& metadata = *span.slot()->metadata;
  if (depth_ < frames_.size() && frames_[depth_].metadata == &metadata && !metadata.parts().owned) [[likely]] {
    frames_[depth_].id = span.slot()->span_id();
    return cut(depth_ + 1);
  }
  frames_.resize(depth_);
  text_.resize_down(end_);
  Name const& known = known_names_[place_of(metadata, known_names_.size())];
  if (known.metadata == &metadata) [[likely]] {
    text_.append({names_.data() + known.begin, known.size});
  } else {
    append_new_name(metadata, options);
  }
  frames_.push_back({span.slot()->span_id(), &metadata, text_.size()});
  cut(frames_.size());
}

void FoldedStack::append_new_name(Metadata const& metadata, FlameOptions const& options) noexcept {
  std::size_t const begin = text_.size();
  append_span(text_, metadata, options);
  // What is made at run time may go, and another one stand where it was.
  if (metadata.parts().owned) return;
  std::string_view const name = text_.view().substr(begin);
  if (names_.size() + name.size() > kMostNameBytes) forget_names();
  if (name.size() > kMostNameBytes || text_.truncated()) return;
  known_names_[place_of(metadata, known_names_.size())] = {&metadata, static_cast<std::uint32_t>(names_.size()),
                                                           static_cast<std::uint32_t>(name.size())};
  names_.append(name);
  if (names_.truncated()) forget_names();
}

void FoldedStack::forget_names() noexcept {
  known_names_ = {};
  names_.clear();
}

}  // namespace tracing::inline v1::internal
