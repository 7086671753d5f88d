// ValueReader: takes the words, texts and values of a record.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace recording {

/// Borrows all that it returns. Allocates nothing. After an error it returns empty pieces.
class ValueReader {
 public:
  ValueReader() noexcept = default;
  explicit ValueReader(std::string_view content) noexcept : rest_(content) {}

  std::string_view take(std::size_t bytes) noexcept;
  std::uint64_t take_word() noexcept;
  /// Takes a value of this kind. `whole_size` becomes the size of the whole text if the value is only the beginning of
  /// a text, zero otherwise.
  Value take_value(std::uint8_t kind, std::uint32_t& whole_size) noexcept;

  std::size_t size() const noexcept { return rest_.size(); }
  /// Says what makes no sense; null if all made sense.
  char const* error() const noexcept { return error_; }
  void fail(char const* error) noexcept { error_ = error; }

 private:
  Value take_text(ValueKind kind, bool is_cut, std::uint32_t& whole_size) noexcept;

  std::string_view rest_;
  char const* error_ = nullptr;
};

}}}  // namespace tracing::v1::recording
