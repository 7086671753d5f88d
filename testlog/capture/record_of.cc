#include "testlog/capture/record_of.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace testlog { inline namespace v1 {
namespace {

using tracing::Value;
using tracing::ValueKind;

FieldValue field_value(Value const& value) {
  switch (value.kind()) {
    case ValueKind::boolean: return value.as_bool();
    case ValueKind::i64: return value.as_i64();
    case ValueKind::u64: return value.as_u64();
    case ValueKind::text: return value.as_text();
    default: break;
  }
  tracing::InlineTextBuffer<256> text;
  tracing::append_debug(text, value);
  if (value.kind() == ValueKind::f64 || value.kind() == ValueKind::f32) {
    return FieldValue::number(value.as_double(), std::string(text.view()));
  }
  return FieldValue::printed(std::string(text.view()));
}

void add_fields(std::vector<Field>& out, tracing::FieldValues const& values, std::string* message) {
  out.reserve(out.size() + values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Value const value = values.value(i);
    if (value.is_empty()) continue;
    std::string_view const name = values.name(i);
    if (message != nullptr && name == "message") {
      *message = value.kind() == ValueKind::text ? std::string(value.as_text()) : field_value(value).text();
      continue;
    }
    Field& field = out.emplace_back();
    field.name = name;
    field.value = field_value(value);
  }
}

SpanInfo span_info(tracing::Metadata const& metadata, tracing::StoredValues const& values) {
  SpanInfo info{std::string(metadata.name()), std::string(metadata.target()), metadata.level(), {}};
  values.for_each_last_group(metadata,
                             [&info](tracing::FieldValues const& group) { add_fields(info.fields, group, nullptr); });
  return info;
}

void fill_without_spans(Record& record, tracing::FieldValues const& values, tracing::Track const& track) {
  tracing::Metadata const& metadata = values.metadata();
  record.is_span = metadata.is_span();
  record.name = metadata.name();
  record.target = metadata.target();
  record.level = metadata.level();
  add_fields(record.fields, values, record.is_span ? nullptr : &record.message);
  record.file = metadata.file();
  record.line = metadata.line();
  record.thread = track.name;
  record.thread_number = track.number;
}

}  // namespace

void fill_record(Record& record, tracing::recording::Entry const& entry, tracing::recording::Span const* span) {
  fill_without_spans(record, tracing::FieldValues(*entry.metadata, entry.values), {entry.track, entry.track_name});
  if (record.is_span && span != nullptr) span = span->parent.get();
  for (; span != nullptr; span = span->parent.get()) record.spans.push_back(span_info(*span->metadata, span->values));
  std::reverse(record.spans.begin(), record.spans.end());
  record.number = entry.ticks;
  record.time = entry.time;
}

Record record_of(tracing::Event const& event, tracing::Context const& context) {
  Record record;
  fill_without_spans(record, event.fields, context.track());
  for (tracing::SpanRef span = context.event_span(event); span; span = span.parent()) {
    auto const lock = span.lock();
    record.spans.push_back(span_info(span.metadata(), span.values()));
  }
  std::reverse(record.spans.begin(), record.spans.end());
  record.time = context.time();
  return record;
}

}}  // namespace testlog::v1
