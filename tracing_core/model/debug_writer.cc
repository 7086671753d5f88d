#include "tracing_core/model/debug_writer.h"

#include <algorithm>

#include "tracing_core/model/redaction.h"

namespace tracing::inline v1 {

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

void DebugWriter::begin(char bracket) noexcept {
  out_.push_back(bracket);
  char const closing = bracket == '[' ? ']' : bracket == '{' ? '}' : ')';
  if (depth_ < kMaxDepth) closing_[depth_] = closing, any_[depth_] = false, item_from_[depth_] = out_.size();
  ++depth_;
}

void DebugWriter::begin_struct(std::string_view name) noexcept {
  raw(name);
  if (depth_ < kMaxDepth) closing_[depth_] = 's', any_[depth_] = false, item_from_[depth_] = out_.size();
  ++depth_;
}

// What is hidden is written all the same, as only its type knows how, and then cut off.
void DebugWriter::hide_if_named(std::string_view name) noexcept {
  internal::Redaction const* const redaction = internal::current_redaction();
  if (redaction == nullptr || hidden_from_ != kNothing || !internal::covers(*redaction, name)) return;
  raw(internal::redaction_token());
  hidden_from_ = out_.size();
  hidden_depth_ = depth_;
}

void DebugWriter::take_back_hidden() noexcept {
  if (hidden_from_ == kNothing || depth_ != hidden_depth_) return;
  out_.resize_down(hidden_from_);
  hidden_from_ = kNothing;
}

void DebugWriter::item() noexcept {
  take_back_hidden();
  if (depth_ == 0 || depth_ > kMaxDepth) return;
  bool& any = any_[depth_ - 1];
  bool const is_struct = closing_[depth_ - 1] == 's';
  if (!any && is_struct) out_.append(" {");
  if (pretty_) {
    if (any) out_.push_back(',');
    new_line();
  } else if (any) {
    out_.append(", ");
  } else if (is_struct) {
    out_.push_back(' ');
  }
  any = true;
  item_from_[depth_ - 1] = out_.size();
}

void DebugWriter::field(std::string_view name) noexcept {
  item();
  raw(name);
  raw(": ");
  hide_if_named(name);
}

void DebugWriter::mapped() noexcept {
  std::size_t const end = out_.size();
  raw(": ");
  if (depth_ == 0) return;
  std::size_t const begin = std::min(item_from_[std::min(depth_, kMaxDepth) - 1], end);
  hide_if_named(out_.view().substr(begin, end - begin));  // of a composite key what is in it, too
}

void DebugWriter::end() noexcept {
  take_back_hidden();
  if (depth_ == 0) return;
  --depth_;
  if (depth_ >= kMaxDepth) {
    out_.append("...");
    return;
  }
  bool const is_struct = closing_[depth_] == 's';
  if (any_[depth_]) {
    if (pretty_) {
      out_.push_back(',');
      new_line();
    } else if (is_struct) {
      out_.push_back(' ');
    }
  }
  if (!is_struct) {
    out_.push_back(closing_[depth_]);
  } else if (any_[depth_]) {
    out_.push_back('}');
  }
}

}  // namespace tracing::inline v1
