// ExpectedSpan and ExpectedEvent: what a test requires of a span or event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing_core/collect/layer.h"
#include "tracing_core/model/value_of.h"

namespace tracing::inline v1::mock {

/// A required field, and its debug output if a value is required.
struct ExpectedField {
  std::string name;
  std::optional<std::string> value{};
};

/// The requirements that spans and events share. Everything else is ignored.
template <class Self>
class ExpectedRecord {
 public:
  Self&& at_level(Level level) && { return level_ = level, self(); }
  Self&& with_target(std::string_view target) && { return target_ = target, self(); }
  /// A field of this name was recorded, with any value.
  Self&& with_field(std::string_view name) && { return fields_.push_back({std::string(name)}), self(); }
  /// A field of this name was recorded with this value.
  template <class T>
  Self&& with_field(std::string_view name, T const& value) && {
    InlineTextBuffer<64> text;
    internal::Held<T> const held(value);
    append_debug(text, held.value());
    fields_.push_back({std::string(name), std::string(text.view())});
    return self();
  }
  /// No other fields were recorded. The message of an event does not count.
  Self&& with_only_these_fields() && { return only_fields_ = true, self(); }
  /// The parent is a span of this name.
  Self&& below(std::string_view name) && { return parent_ = name, self(); }
  /// There is no parent.
  Self&& at_root() && { return parent_ = std::string(), self(); }

 protected:
  Self&& self() noexcept { return static_cast<Self&&>(*this); }
  // Describes the first requirement that is not met; empty if all are.
  std::string mismatch(Metadata const& metadata, FieldValues const& fields, SpanRef parent) const;
  void describe(std::string& out) const;

  std::optional<Level> level_;
  std::optional<std::string> target_;
  std::optional<std::string> parent_;  // empty: none
  std::vector<ExpectedField> fields_;
  bool only_fields_ = false;
};

/// The requirements of a span. Fields are those of its creation, or of the record() call.
class ExpectedSpan : public ExpectedRecord<ExpectedSpan> {
 public:
  ExpectedSpan&& named(std::string_view name) && { return name_ = name, self(); }

  std::string mismatch(SpanRef span, FieldValues const& fields) const;
  std::string describe() const;

 private:
  std::optional<std::string> name_;
};

/// The requirements of an event.
class ExpectedEvent : public ExpectedRecord<ExpectedEvent> {
 public:
  /// The formatted message.
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

}  // namespace tracing::inline v1::mock
