#include "tracing_core/mock/expect.h"

#include <algorithm>

#include "tracing_core/support/short_text.h"

namespace tracing { inline namespace v1 { namespace mock {
namespace {

using tracing::support::in_quotes;

std::string text_of(Value const& value) {
  InlineTextBuffer<256> out;
  if (value.kind() == ValueKind::message) {
    append_message(out, value);
  } else {
    append_debug(out, value);
  }
  return std::string(out.view());
}

std::string difference(std::string_view what, std::string const& expected, std::string const& found) {
  return std::string(what) + " is " + found + ", not " + expected;
}

// Describes how the field differs; returns an empty text if it does not.
std::string field_mismatch(ExpectedField const& expected, FieldValues const& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.name(i) != expected.name || fields.value(i).is_empty()) continue;
    std::string const found = text_of(fields.value(i));
    if (!expected.value || *expected.value == found) return {};
    return difference("field " + expected.name, *expected.value, found);
  }
  return "field " + expected.name + " was not recorded";
}

}  // namespace

template <class Self>
std::string ExpectedRecord<Self>::mismatch(Metadata const& metadata, FieldValues const& fields, SpanRef parent) const {
  if (level_ && metadata.level() != *level_)
    return difference("level", std::string(tracing::name(*level_)), std::string(tracing::name(metadata.level())));
  if (target_ && metadata.target() != *target_)
    return difference("target", in_quotes(*target_), in_quotes(metadata.target()));
  if (parent_) {
    std::string_view const parent_name = parent ? parent.metadata().name() : std::string_view();
    std::string const found = parent ? in_quotes(parent_name) : "none";
    if (bool{parent} == parent_->empty() || parent_name != *parent_) {
      return difference("parent", parent_->empty() ? "none" : in_quotes(*parent_), found);
    }
  }
  for (ExpectedField const& expected : fields_) {
    if (std::string mismatch = field_mismatch(expected, fields); !mismatch.empty()) return mismatch;
  }
  for (std::size_t i = 0; only_fields_ && i < fields.size(); ++i) {
    Value const value = fields.value(i);
    if (value.is_empty() || value.kind() == ValueKind::message) continue;
    bool const known =
        std::any_of(fields_.begin(), fields_.end(), [&](ExpectedField const& f) { return f.name == fields.name(i); });
    if (!known) return "field " + std::string(fields.name(i)) + " was also recorded";
  }
  return {};
}

template <class Self>
void ExpectedRecord<Self>::describe(std::string& out) const {
  if (level_) out += " at level " + std::string(tracing::name(*level_));
  if (target_) out += " with target " + in_quotes(*target_);
  if (parent_) out += parent_->empty() ? " without parent" : " with parent " + in_quotes(*parent_);
  for (ExpectedField const& field : fields_) {
    out += " with field " + field.name;
    if (field.value) out += "=" + *field.value;
  }
  if (only_fields_) out += " and no other field";
}

template class ExpectedRecord<ExpectedSpan>;
template class ExpectedRecord<ExpectedEvent>;

std::string ExpectedSpan::mismatch(SpanRef span, FieldValues const& fields) const {
  if (name_ && span.metadata().name() != *name_)
    return difference("name", in_quotes(*name_), in_quotes(span.metadata().name()));
  return ExpectedRecord::mismatch(span.metadata(), fields, span.parent());
}

std::string ExpectedSpan::describe() const {
  std::string out = "span";
  if (name_) out += " " + in_quotes(*name_);
  ExpectedRecord::describe(out);
  return out;
}

std::string ExpectedEvent::mismatch(FieldValues const& fields, SpanRef span) const {
  if (message_) {
    std::size_t const index = fields.metadata().fields().index_of("message");
    std::string const found = index < fields.size() ? text_of(fields.value(index)) : "";
    if (found != *message_) return difference("message", in_quotes(*message_), in_quotes(found));
  }
  return ExpectedRecord::mismatch(fields.metadata(), fields, span);
}

std::string ExpectedEvent::describe() const {
  std::string out = "event";
  if (message_) out += " " + in_quotes(*message_);
  ExpectedRecord::describe(out);
  return out;
}

}}}  // namespace tracing::v1::mock
