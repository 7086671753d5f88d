// ExpectedSpan and ExpectedEvent: the requirements of a test on a span or event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/model/value_of.h"

namespace tracing { inline namespace v1 { namespace mock {

/// A required field, and its debug output if a value is required.
struct ExpectedField {
  std::string name;
  std::optional<std::string> value{};
};

/// The requirements that spans and events share. Properties without a requirement are ignored.
template <class Self>
class ExpectedRecord {
 public:
  Self&& at_level(Level level) && { return level_ = level, self(); }
  Self&& with_target(std::string_view target) && { return target_ = target, self(); }
  /// Requires that a field of this name was recorded, with any value.
  Self&& with_field(std::string_view name) && { return fields_.push_back({std::string(name)}), self(); }
  /// Requires that a field of this name was recorded with this value.
  template <class T>
  Self&& with_field(std::string_view name, T const& value) && {
    InlineTextBuffer<64> text;
    internal::Held<T> const held(value);
    append_debug(text, held.value());
    fields_.push_back({std::string(name), std::string(text.view())});
    return self();
  }
  /// Requires that no other fields were recorded. The message of an event does not count.
  Self&& with_only_these_fields() && { return only_fields_ = true, self(); }
  /// Requires that the parent is a span of this name.
  Self&& below(std::string_view name) && { return parent_ = name, self(); }
  /// Requires that the record has no parent.
  Self&& at_root() && { return parent_ = std::string(), self(); }

 protected:
  Self&& self() noexcept { return static_cast<Self&&>(*this); }
  // Describes the first requirement that is not met; returns an empty text if all are met.
  std::string mismatch(Metadata const& metadata, FieldValues const& fields, SpanRef parent) const;
  void describe(std::string& out) const;

  std::optional<Level> level_;
  std::optional<std::string> target_;
  std::optional<std::string> parent_;  // empty text: no parent
  std::vector<ExpectedField> fields_;
  bool only_fields_ = false;
};

/// The requirements on a span. Its fields are compared with the values at its creation in new_span(), with the values
/// of the call in record(), with the last value of each field in enter(), exit() and close(), and with no values in
/// follows_from().
class ExpectedSpan : public ExpectedRecord<ExpectedSpan> {
 public:
  ExpectedSpan&& named(std::string_view name) && { return name_ = name, self(); }

  std::string mismatch(SpanRef span, FieldValues const& fields) const;
  std::string describe() const;

 private:
  std::optional<std::string> name_;
};

/// The requirements on an event.
class ExpectedEvent : public ExpectedRecord<ExpectedEvent> {
 public:
  /// Requires this formatted message.
  ExpectedEvent&& with_message(std::string_view message) && { return message_ = message, self(); }
  ExpectedEvent&& inside(std::string_view span_name) && { return std::move(*this).below(span_name); }

  std::string mismatch(FieldValues const& fields, SpanRef span) const;
  std::string describe() const;

 private:
  std::optional<std::string> message_;
};

/// mock::span().named("request").at_level(Level::info).with_field("id", 7)
inline ExpectedSpan span() { return {}; }
inline ExpectedSpan span(std::string_view name) { return ExpectedSpan().named(name); }
/// mock::event().with_message("started").at_level(Level::info)
inline ExpectedEvent event() { return {}; }

}}}  // namespace tracing::v1::mock
