#include "testlog/capture/unwound_path.h"

#include <algorithm>
#include <cstddef>

#include "tracing_core/format/span_path.h"
#include "tracing_core/support/utf8.h"

namespace testlog { inline namespace v1 {
namespace {

constinit thread_local int spans_of_destructors = 0;  // entered during the unwinding and not left yet
constinit thread_local char path[512] =
    {};  // cut to this size; no std::string, which destructors of other objects could outlive
constinit thread_local std::size_t path_size = 0;

}  // namespace

constinit thread_local bool follows_exception = false;

std::string_view unwound_path() noexcept { return {path, follows_exception ? path_size : 0}; }

void forget_unwound() noexcept {
  spans_of_destructors = 0;
  follows_exception = false;
  path_size = 0;
}

void observe_enter() noexcept {
  if (!is_unwinding()) [[likely]]
    return;
  ++spans_of_destructors;
  follows_exception = true;
}

bool leaves_by_exception(tracing::SpanRef span) noexcept {
  if (spans_of_destructors > 0) {
    --spans_of_destructors;
    return false;
  }
  follows_exception = true;
  if (path_size > 0) return true;
  tracing::InlineTextBuffer<sizeof(path)> text;
  tracing::append_span_path(text, span);
  path_size = tracing::support::char_start(text.view(), std::min(text.size(), sizeof(path)));
  text.view().copy(path, path_size);
  return true;
}

}}  // namespace testlog::v1
