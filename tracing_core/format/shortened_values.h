// ShortenedValues: the values of a span with long texts cut, since every line inside the span repeats them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "tracing_core/model/field_values.h"

namespace tracing { inline namespace v1 { namespace formatting {

/// A longer text is shortened, as in recordings, to its beginning and its size: `xxx... (3145728 bytes)`.
inline constexpr std::size_t kMaxShownValueBytes = 4096;

/// Appends `text`, shortened if it is longer. Does not change a text that is already shortened.
void append_shortened(TextBuffer& out, std::string_view text) noexcept;

/// Shortens texts, bytes and errors. Costs a comparison for each value if no value is long. If memory runs out, long
/// values are empty. Single-thread.
class ShortenedValues {
 public:
  /// Borrows the values of `fields`. Shortens nothing unless `shorten`.
  ShortenedValues(FieldValues const& fields, bool shorten) noexcept;

  FieldValues fields() const noexcept { return {metadata_, values_}; }

 private:
  Metadata const& metadata_;
  Value const* values_;
  std::unique_ptr<std::array<Value, 256>> shortened_;  // null if no value is long
  TextBuffer texts_;
};

}}}  // namespace tracing::v1::formatting
