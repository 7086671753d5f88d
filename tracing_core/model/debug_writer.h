// DebugWriter prints structured objects on one line or over several, as Rust's `{:?}` and `{:#?}` do.
#pragma once

#include <cstddef>
#include <string_view>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 {

/// Prints nested structure: `[1, 2]`, `(4, "a")`, `CubeDim { x: 16, y: 16 }`, `{"a": 1}`. If pretty, prints each item
/// on its own line, indented by four blanks and followed by a comma. Prints a token in place of values hidden by
/// redact(). Single-thread.
class DebugWriter {
 public:
  DebugWriter(TextBuffer& out, bool pretty) noexcept : out_(out), pretty_(pretty) {}
  DebugWriter(DebugWriter const&) = delete;
  DebugWriter& operator=(DebugWriter const&) = delete;
  ~DebugWriter() {
    if (hidden_from_ != kNothing) out_.resize_down(hidden_from_);
  }

  /// Appends text unchanged; if pretty, indents lines after its first to the current depth.
  void raw(std::string_view text) noexcept;
  /// Appends a value without structure: quotes text, and writes custom objects in their own debug form at this depth.
  void value(Value const& value) noexcept;

  /// Opens a list `[`, a set or map `{`, or a tuple `(`; close it with end().
  void begin(char bracket) noexcept;
  /// Opens a struct: `Name {`. A struct without fields prints only its name.
  void begin_struct(std::string_view name) noexcept;
  /// Starts the next item of the innermost open structure.
  void item() noexcept;
  /// Starts the second item of a pair. If the first item is the name of a hidden field, hides the second.
  void keyed_item() noexcept;
  /// Starts the next field of the open struct.
  void field(std::string_view name) noexcept;
  /// Ends a map's key and starts its value.
  void mapped() noexcept;
  void end() noexcept;
  /// Calls `write(object, *this)`. If the call throws, writes `<unprintable>` and ends the structures that it began.
  void guarded(void (*write)(void const* object, DebugWriter& writer), void const* object) noexcept;

 private:
  struct Structure {
    char closing;  // 's' for a struct, which closes with a brace
    bool has_items;
    std::size_t item_begin;  // where the structure's last item starts in `out_`
  };
  static constexpr int kMaxDepth = 32;  // structures deeper than this print as `...`
  static constexpr std::size_t kNothing = ~std::size_t{0};

  void open(char closing) noexcept;
  void new_line() noexcept;
  void hide_if_redacted(std::string_view name) noexcept;
  void hide_if_redacted(std::size_t begin, std::size_t end) noexcept;
  void remove_hidden() noexcept;

  TextBuffer& out_;
  bool pretty_;
  int depth_ = 0;
  int hidden_depth_ = 0;
  std::size_t hidden_from_ = kNothing;  // text from here on is removed when the item at hidden_depth_ ends
  Structure open_[kMaxDepth];
};

}}  // namespace tracing::v1
