// find_escape_run(): tells which characters quoted text shows as `\u{..}`, as Rust's `{:?}` of a string does.
#pragma once

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// A half-open range of code points that are all escaped or all printed unchanged.
struct CodePointRun {
  char32_t begin = 0;
  char32_t end = 0;
  bool escaped = false;

  bool contains(char32_t code_point) const noexcept { return begin <= code_point && code_point < end; }
};

/// Returns the run that contains `code_point`. This takes a binary search, so keep the run: the next character is
/// likely to be in it, too.
CodePointRun find_escape_run(char32_t code_point) noexcept;

}}}  // namespace tracing::v1::support
