// Members of JSON objects.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/text_escape.h"

namespace testlog::why {

/// Appends `"name":"text"`, after a comma unless it is the first member.
inline void append_member(tracing::TextBuffer& out, std::string_view name, std::string_view text) {
  if (!out.view().ends_with('{')) out.push_back(',');
  tracing::append_json_string(out, name);
  out.push_back(':');
  tracing::append_json_string(out, text);
}

inline void append_number(tracing::TextBuffer& out, std::string_view name, std::uint64_t number) {
  if (!out.view().ends_with('{')) out.push_back(',');
  tracing::append_json_string(out, name);
  out.push_back(':');
  out.append_uint(number);
}

}  // namespace testlog::why
