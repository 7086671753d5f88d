// PrintedValues: prints the values of a statement that print themselves, before the statement's record is emitted.
#pragma once

#include <cstddef>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/text_buffer.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Replaces custom values by their text, which lives as long as this object. While a subscriber handles a record, the
/// thread's other records are dropped. Since the values are printed before that, what their operator<<, formatters,
/// members or iterators trace is recorded, once, before the record. While a value of some type is being printed,
/// further values of this type stay as they are, so a type that traces itself when it is printed does not recurse.
class PrintedValues {
 public:
  /// Takes the values of a record of `metadata`. A value that the message prints by a specification of the value's own
  /// type is replaced by that text, if this is its only use; otherwise it stays as it is.
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

}}}  // namespace tracing::v1::internal
