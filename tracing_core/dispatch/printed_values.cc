#include "tracing_core/dispatch/printed_values.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 { namespace internal {

// An entry in the thread's list of types that are being printed.
struct PrintedType {
  explicit PrintedType(CustomType const& printed) noexcept : type(&printed), outer(thread_state.printed_types) {
    thread_state.printed_types = this;
  }
  PrintedType(PrintedType const&) = delete;
  PrintedType& operator=(PrintedType const&) = delete;
  ~PrintedType() { thread_state.printed_types = outer; }

  CustomType const* const type;
  PrintedType const* const outer;
};

namespace {

bool is_being_printed(CustomType const& type) noexcept {
  PrintedType const* at = thread_state.printed_types;
  while (at != nullptr && at->type != &type) at = at->outer;
  return at != nullptr;
}

// Says how a message uses a value.
struct Spec {
  std::string_view text{};
  bool is_only_use = true;
};

Spec spec_of(MetadataParts const& parts, std::size_t value_index) noexcept {
  Spec spec;
  std::size_t uses = 0;
  for (std::size_t i = 0; i < parts.field_count; ++i) uses += parts.fields[i].value_index == value_index ? 1 : 0;
  for (std::size_t i = 0; i < parts.placeholder_count; ++i) {
    MessagePlaceholder const& placeholder = parts.placeholders[i];
    if (placeholder.value_index != value_index) continue;
    ++uses;
    if (placeholder.is_own) spec.text = {parts.text + placeholder.spec_offset, placeholder.spec_size};
  }
  spec.is_only_use = uses < 2;
  return spec;
}

}  // namespace

PrintedValues::PrintedValues(Metadata const& metadata, Value* values) noexcept {
  print(values, metadata.parts().value_count, [&](std::size_t i) { return spec_of(metadata.parts(), i); });
}

PrintedValues::PrintedValues(Value* values, std::size_t count) noexcept {
  print(values, count, [](std::size_t) { return Spec(); });
}

template <class SpecOf>
void PrintedValues::print(Value* values, std::size_t count, SpecOf spec_of) noexcept {
  if (thread_state.in_subscriber) return;  // the record will be dropped
  std::bitset<256> replaced;               // statements have fewer values
  std::array<std::size_t, 256> begins;     // where the replaced values' texts begin
  for (std::size_t i = 0; i < count; ++i) {
    Value const value = values[i];
    if (value.kind() != ValueKind::custom || is_being_printed(value.custom_type())) continue;
    PrintedType const printed(value.custom_type());
    std::size_t const begin = text_.size();
    Spec const spec = spec_of(i);
    if (spec.text.empty() || !spec.is_only_use) {
      append_debug(text_, value);
    } else {
      append_formatted(text_, value, spec.text);
    }
    if (!spec.text.empty() && !spec.is_only_use) {
      text_.resize_down(begin);
      continue;
    }
    values[i] = Value::of_verbatim(text_.view().substr(begin));
    begins[i] = begin;
    replaced.set(i);
  }
  // Texts of later values may have moved the buffer, so the values are made again.
  for (std::size_t i = 0; i < count; ++i) {
    if (replaced[i]) values[i] = Value::of_verbatim(text_.view().substr(begins[i], values[i].as_text().size()));
  }
}

}}}  // namespace tracing::v1::internal
