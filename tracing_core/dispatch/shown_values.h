// Declares what stands between a statement and the subscriber where redact() hides values.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/redaction.h"

namespace tracing::inline v1::internal {

// The values of one statement, without those that are hidden.
class ShownValues {
 public:
  ShownValues(Redaction const& redaction, Metadata const& metadata, Value const* values) noexcept {
    MetadataParts const& parts = metadata.parts();
    std::copy_n(values, parts.value_count, values_);
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
    Value values_[256];  // only as many as the statement has are ever set
  };
};

// Calls `f` with what may be shown of `values`. Not inlined, as it takes much of the stack.
template <class F>
[[gnu::noinline]] auto with_shown(Redaction const& redaction, Metadata const& metadata, Value const* values,
                                  F&& f) noexcept {
  if (values == nullptr) return f(values);
  ShownValues const shown(redaction, metadata, values);
  return f(shown.data());
}

// dispatch_event() and dispatch_open_scope() where something is hidden. In a file of their own, as the compiler must not change
// their arguments: those that call them for what they are seldom needed for save no register then.
void dispatch_shown_event(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept;
OpenSpan dispatch_shown_scope(std::nullptr_t, Metadata const& metadata, Verdict verdict, Value const* values) noexcept;

}  // namespace tracing::inline v1::internal
