// Declares which characters quoted text shows as `\u{..}`: those that Rust's `{:?}` of a string escapes.
#pragma once

namespace tracing::inline v1::internal {

/// Neighbouring code points, half-open, that are all escaped or all shown as they are.
struct CodePointRun {
  char32_t begin = 0;
  char32_t end = 0;
  bool escaped = false;

  bool contains(char32_t code_point) const noexcept { return begin <= code_point && code_point < end; }
};

/// The run `code_point` is in. A binary search: keep the run, for the next character is likely in the same one.
CodePointRun find_escape_run(char32_t code_point) noexcept;

}  // namespace tracing::inline v1::internal
