// Appends an error with its causes, and the fields of the format pretty.
#pragma once

#include <string_view>

#include "tracing_core/format/style.h"
#include "tracing_core/model/field_values.h"
#include "tracing_core/model/text_escape.h"

namespace tracing::inline v1::internal {

// Appends the error's own text. If it has causes, calls `append_key()` and appends `[cause, cause]`.
template <class F>
void append_error_text(TextBuffer& out, Value const& error, TextStyle style, F append_key) noexcept {
  struct State {
    TextBuffer& out;
    TextStyle style;
    F& append_key;
    std::size_t count;
  } state{out, style, append_key, 0};
  error.error_type().visit(error.as_pointer(), &state, [](void* context, std::string_view text) {
    State& s = *static_cast<State*>(context);
    if (s.count == 1) s.append_key();
    if (s.count > 0) s.out.append(s.count == 1 ? "[" : ", ");
    if (s.style.sanitize) {
      append_sanitized(s.out, text);
    } else {
      s.out.append(text);
    }
    ++s.count;
  });
  if (state.count > 1) out.push_back(']');
}

// Appends `text, name: value`, with `text_prefix` before a message, `key_prefix` and `key_suffix` around names.
void append_pretty_fields(TextBuffer& out, FieldValues const& fields, TextStyle style, std::string_view text_prefix,
                          std::string_view key_prefix, std::string_view key_suffix, bool first) noexcept;

}  // namespace tracing::inline v1::internal
