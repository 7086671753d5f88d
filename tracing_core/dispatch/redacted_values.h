// Emits records without the values that redact() hides.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/redaction.h"

namespace tracing { inline namespace v1 { namespace internal {

// The values of one record, with the hidden values replaced.
class RedactedValues {
 public:
  RedactedValues(Redaction const& redaction, Metadata const& metadata, Value const* values) noexcept {
    MetadataParts const& parts = metadata.parts();
    std::copy_n(values, parts.value_count, values_);
    // The entries of fields, followed by entries of message arguments, which have the text of their expression instead
    // of a name.
    for (std::size_t i = 0; i < std::size_t{parts.field_count} + parts.unnamed_count; ++i) {
      FieldEntry const& entry = parts.fields[i];
      if (entry.value_index == kMessageValue || values_[entry.value_index].is_empty()) continue;
      char const* const names = i < parts.field_count ? parts.text : parts.arguments;
      if (covers(redaction, {names + entry.offset, entry.size})) values_[entry.value_index] = Value::of_redacted();
    }
  }
  Value const* data() const noexcept { return values_; }

 private:
  union {
    Value values_[256];  // only as many as the record has are initialized
  };
};

// Calls `f` with the redacted values. Not inlined, because it needs 4 KiB of stack.
template <class F>
[[gnu::noinline]] auto with_redacted(Redaction const& redaction, Metadata const& metadata, Value const* values,
                                     F&& f) noexcept {
  if (values == nullptr) return f(values);
  RedactedValues const shown(redaction, metadata, values);
  return f(shown.data());
}

// Do what dispatch_event() and dispatch_open_scope() do, while values are hidden. Defined in a separate file, so that
// the compiler keeps their calling convention, and callers, which rarely call them, need not save registers.
void dispatch_redacted_event(std::nullptr_t, Metadata const& metadata, LayerMask mask, Value const* values) noexcept;
OpenSpan dispatch_redacted_scope(std::nullptr_t, Metadata const& metadata, LayerMask mask,
                                 Value const* values) noexcept;

}}}  // namespace tracing::v1::internal
