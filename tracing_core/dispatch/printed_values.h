// PrintedValues: the values of a statement that print themselves, printed before the statement's record is emitted.
#pragma once

#include <cstddef>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing::inline v1::internal {

/// Replaces custom values by their text, which lives as long as this object. While a subscriber handles a record, all
/// others are dropped; by then the values are printed, and what their operator<<, formatter, members or iterators traced
/// meanwhile is recorded before the record, once. While values of a type are being printed, further ones of this type
/// stay as they are: a type that traces itself when it is printed does not recurse.
class PrintedValues {
 public:
  /// The values of a record of `metadata`. One that the message prints by a specification of its type is printed by it;
  /// if that is not its only use, it stays as it is.
  PrintedValues(Metadata const& metadata, Value* values) noexcept;
  PrintedValues(Value* values, std::size_t count) noexcept;
  explicit PrintedValues(Value& value) noexcept : PrintedValues(&value, 1) {}
  PrintedValues(PrintedValues const&) = delete;
  PrintedValues& operator=(PrintedValues const&) = delete;

 private:
  template <class SpecOf>
  void print(Value* values, std::size_t count, SpecOf spec_of) noexcept;

  InlineTextBuffer<512> text_;
};

}  // namespace tracing::inline v1::internal
