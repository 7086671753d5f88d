#include "tracing_core/model/debug_writer.h"

#include <algorithm>

#include "tracing_core/model/redaction.h"

namespace tracing { inline namespace v1 {

void DebugWriter::new_line() noexcept {
  out_.push_back('\n');
  out_.append(static_cast<std::size_t>(std::min(depth_, kMaxDepth)) * 4, ' ');
}

void DebugWriter::raw(std::string_view text) noexcept {
  if (!pretty_ || depth_ == 0) {
    out_.append(text);
    return;
  }
  for (std::size_t start = 0;;) {
    std::size_t const end = text.find('\n', start);
    out_.append(text.substr(start, end - start));
    if (end == std::string_view::npos) return;
    new_line();
    start = end + 1;
  }
}

void DebugWriter::value(Value const& value) noexcept {
  if (value.kind() == ValueKind::custom) {
    value.custom_type().debug(value.as_pointer(), *this);
    return;
  }
  if (value.is_empty()) {
    raw("null");
    return;
  }
  InlineTextBuffer<256> text;
  append_debug(text, value);
  raw(text.view());
}

void DebugWriter::open(char closing) noexcept {
  if (depth_ < kMaxDepth) open_[depth_] = {closing, false, out_.size()};
  ++depth_;
}

void DebugWriter::begin(char bracket) noexcept {
  out_.push_back(bracket);
  open(bracket == '[' ? ']' : bracket == '{' ? '}' : ')');
}

void DebugWriter::begin_struct(std::string_view name) noexcept {
  raw(name);
  open('s');
}

// Appends the token, and notes where to remove the hidden value. The value is still printed, since only its type knows
// where it ends, and is then removed.
void DebugWriter::hide_if_redacted(std::string_view name) noexcept {
  internal::Redaction const* const redaction = internal::current_redaction();
  if (redaction == nullptr || hidden_from_ != kNothing || !internal::covers(*redaction, name)) return;
  raw(internal::redaction_token());
  hidden_from_ = out_.size();
  hidden_depth_ = depth_;
}

void DebugWriter::remove_hidden() noexcept {
  if (hidden_from_ == kNothing || depth_ != hidden_depth_) return;
  out_.resize_down(hidden_from_);
  hidden_from_ = kNothing;
}

void DebugWriter::item() noexcept {
  remove_hidden();
  if (depth_ == 0 || depth_ > kMaxDepth) return;
  Structure& structure = open_[depth_ - 1];
  bool const is_struct = structure.closing == 's';
  if (!structure.has_items && is_struct) out_.append(" {");
  if (pretty_) {
    if (structure.has_items) out_.push_back(',');
    new_line();
  } else if (structure.has_items) {
    out_.append(", ");
  } else if (is_struct) {
    out_.push_back(' ');
  }
  structure.has_items = true;
  structure.item_begin = out_.size();
}

void DebugWriter::field(std::string_view name) noexcept {
  item();
  raw(name);
  raw(": ");
  hide_if_redacted(name);
}

void DebugWriter::mapped() noexcept {
  std::size_t const end = out_.size();
  raw(": ");
  if (depth_ > 0 && depth_ <= kMaxDepth) hide_if_redacted(open_[depth_ - 1].item_begin, end);
}

void DebugWriter::keyed_item() noexcept {
  std::size_t const begin = depth_ > 0 && depth_ <= kMaxDepth ? open_[depth_ - 1].item_begin : out_.size();
  std::size_t const end = out_.size();
  item();
  hide_if_redacted(begin, end);
}

// As above. The name is this part of the text, with or without quotes.
void DebugWriter::hide_if_redacted(std::size_t begin, std::size_t end) noexcept {
  if (begin >= end || end > out_.size()) return;  // inside a hidden value, or memory ran out
  std::string_view name = out_.view().substr(begin, end - begin);
  if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  hide_if_redacted(name);
}

void DebugWriter::guarded(void (*write)(void const* object, DebugWriter& writer), void const* object) noexcept {
  int const depth = depth_;
  try {
    write(object, *this);
  } catch (...) {
    if (depth_ > depth) item();
    raw("<unprintable>");
    while (depth_ > depth) end();
  }
}

void DebugWriter::end() noexcept {
  remove_hidden();
  if (depth_ == 0) return;
  --depth_;
  if (depth_ >= kMaxDepth) {
    out_.append("...");
    return;
  }
  Structure const& structure = open_[depth_];
  bool const is_struct = structure.closing == 's';
  if (structure.has_items) {
    if (pretty_) {
      out_.push_back(',');
      new_line();
    } else if (is_struct) {
      out_.push_back(' ');
    }
  }
  if (!is_struct) {
    out_.push_back(structure.closing);
  } else if (structure.has_items) {
    out_.push_back('}');
  }
}

}}  // namespace tracing::v1
