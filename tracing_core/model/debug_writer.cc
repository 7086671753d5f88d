#include "tracing_core/model/debug_writer.h"

#include <algorithm>

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
  if (depth_ < kMaxDepth) closing_[depth_] = closing, any_[depth_] = false;
  ++depth_;
}

void DebugWriter::begin_struct(std::string_view name) noexcept {
  raw(name);
  if (depth_ < kMaxDepth) closing_[depth_] = 's', any_[depth_] = false;
  ++depth_;
}

void DebugWriter::item() noexcept {
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
}

void DebugWriter::field(std::string_view name) noexcept {
  item();
  raw(name);
  raw(": ");
}

void DebugWriter::end() noexcept {
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
