// Declares DebugWriter, which prints structured objects on one line or over several, as Rust's `{:?}` and `{:#?}` do.
#pragma once

#include <string_view>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing::inline v1 {

/// Prints nested structure: `[1, 2]`, `(4, "a")`, `CubeDim { x: 16, y: 16 }`, `{"a": 1}`; when pretty, each item on a line
/// of its own, indented by four blanks, with a comma behind. Single-thread.
class DebugWriter {
 public:
  DebugWriter(TextBuffer& out, bool pretty) noexcept : out_(out), pretty_(pretty) {}
  DebugWriter(DebugWriter const&) = delete;
  DebugWriter& operator=(DebugWriter const&) = delete;
  ~DebugWriter() {
    if (hidden_from_ != kNothing) out_.resize_down(hidden_from_);
  }

  bool pretty() const noexcept { return pretty_; }

  /// Text as it is; the lines after its first are indented to where the writer stands.
  void raw(std::string_view text) noexcept;
  /// A value without structure: text quoted, custom objects by their own debug form at this depth.
  void value(Value const& value) noexcept;

  /// Opens a list `[`, a set or map `{`, a tuple `(`; close with the matching end().
  void begin(char bracket) noexcept;
  /// Opens a struct: `Name {`. A struct without fields prints its name alone.
  void begin_struct(std::string_view name) noexcept;
  /// Starts the next item of what is open.
  void item() noexcept;
  /// Starts the next field of the open struct. Of one that redact() names, what follows until the next is taken back.
  void field(std::string_view name) noexcept;
  /// Starts the value behind a map's key; likewise.
  void mapped() noexcept;
  void end() noexcept;

  /// The buffer below, for output that needs no indentation.
  TextBuffer& out() noexcept { return out_; }

 private:
  static constexpr int kMaxDepth = 32;  // deeper structure is cut: `...`
  static constexpr std::size_t kNothing = ~std::size_t{0};

  void new_line() noexcept;
  void hide_if_named(std::string_view name) noexcept;
  void take_back_hidden() noexcept;

  TextBuffer& out_;
  bool pretty_;
  int depth_ = 0;
  int hidden_depth_ = 0;
  std::size_t hidden_from_ = kNothing;  // what stands behind it is not to be shown
  char closing_[kMaxDepth] = {};  // what end() writes; lower case `s` stands for a struct's brace
  bool any_[kMaxDepth] = {};
  std::size_t item_from_[kMaxDepth];  // where the last item of each open structure starts
};

}  // namespace tracing::inline v1
