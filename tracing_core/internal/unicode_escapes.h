// find_escape_run(): the characters that quoted text shows as `\u{..}`, as Rust's `{:?}` of a string does.
#pragma once

namespace tracing::inline v1::internal {

/// A half-open range of code points that are all escaped or all printed unchanged.
struct CodePointRun {
  char32_t begin = 0;
  char32_t end = 0;
  bool escaped = false;

  bool contains(char32_t code_point) const noexcept { return begin <= code_point && code_point < end; }
};

/// The run that contains `code_point`. A binary search; keep the run, since the next character is likely in the same
/// one.
CodePointRun find_escape_run(char32_t code_point) noexcept;

}  // namespace tracing::inline v1::internal
