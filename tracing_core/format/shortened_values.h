// ShortenedValues: the values of a span without the ends of long texts, since every line inside the span repeats them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "tracing_core/model/field_values.h"

namespace tracing::inline v1::internal {

/// Longer texts are shortened, as in recordings, to their beginning and their size: `xxx... (3145728 bytes)`.
inline constexpr std::size_t kMaxShownValueBytes = 4096;

/// Appends `text`, shortened if it is longer. A text that is already shortened stays as it is.
void append_shortened(TextBuffer& out, std::string_view text) noexcept;

/// Texts, bytes and errors are shortened. Costs a comparison for each value if none is long. If memory runs out, long
/// values are empty. Single-thread.
class ShortenedValues {
 public:
  /// Borrows the values of `fields`. Shortens nothing unless `shorten`.
  ShortenedValues(FieldValues const& fields, bool shorten) noexcept;

  FieldValues fields() const noexcept { return {metadata_, values_}; }

 private:
  Metadata const& metadata_;
  Value const* values_;
  std::unique_ptr<std::array<Value, 256>> shortened_;  // null if none is long
  TextBuffer texts_;
};

}  // namespace tracing::inline v1::internal
