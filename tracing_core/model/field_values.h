// FieldValues: the fields of one span or event with their recorded values.
#pragma once

#include <cstddef>
#include <string_view>

#include "tracing_core/model/metadata.h"
#include "tracing_core/model/value.h"

namespace tracing { inline namespace v1 {

/// The fields of one record: names from its metadata, values borrowed from the running statement. A field that was not
/// recorded has an empty value. Cheap to copy; valid during the call that it was passed to.
class FieldValues {
 public:
  /// Makes all values empty.
  constexpr explicit FieldValues(Metadata const& metadata) noexcept : metadata_(&metadata) {}
  /// Takes `values` in the order of the statement's arguments; at least as many as the metadata's entries refer to.
  constexpr FieldValues(Metadata const& metadata, Value const* values) noexcept
      : metadata_(&metadata), values_(values) {}

  constexpr Metadata const& metadata() const noexcept { return *metadata_; }
  constexpr std::size_t size() const noexcept { return metadata_->parts().field_count; }
  constexpr std::string_view name(std::size_t index) const noexcept { return metadata_->fields()[index]; }
  constexpr Value value(std::size_t index) const noexcept {
    if (values_ == nullptr) return Value();
    std::size_t const value_index = metadata_->parts().fields[index].value_index;
    return value_index == internal::kMessageValue ? Value::of_message(*metadata_, values_) : values_[value_index];
  }
  /// Returns the values in the order of the statement's arguments, `metadata().parts().value_count` of them; null if
  /// all are empty.
  constexpr Value const* statement_values() const noexcept { return values_; }

 private:
  Metadata const* metadata_;
  Value const* values_ = nullptr;
};

namespace internal {

/// Returns the value of the field `name`; an empty value if no field has the name.
constexpr Value value_named(FieldValues const& fields, std::string_view name) noexcept {
  std::size_t const index = fields.metadata().fields().index_of(name);
  return index == fields.size() ? Value() : fields.value(index);
}

}  // namespace internal
}}  // namespace tracing::v1
