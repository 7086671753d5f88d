// The members of a perf span in JSON. Lines of records and TRACE_PERF_JSON share them.
#pragma once

#include <string_view>

#include "tracing_core/collect/span_ref.h"
#include "tracing_core/format/json_names.h"
#include "tracing_core/format/json_value.h"
#include "tracing_core/format/perf_line.h"
#include "tracing_core/format/shortened_values.h"

namespace tracing { inline namespace v1 { namespace formatting {

// Appends `"event":"performance_span_complete","name":"cpu_ldg","bytes":4,"duration_us":3,"duration_ms":0.003`. A field
// whose name is already taken gets the prefix `fields.`.
inline void append_perf_members(TextBuffer& out, SpanRef span, Value const& us, Value const& ms,
                                bool shorten_values) noexcept {
  Metadata const& metadata = span.metadata();
  out.append("\"event\":");
  append_json_text(out, kCompletionMessage);
  out.append(",\"name\":");
  append_json_text(out, metadata.name());
  JsonNames names;
  for (char const* const own : {"event", "name", "duration_us", "duration_ms"}) names.reserve(own);
  names.add_all(metadata);
  {
    SpanLock const lock = span.lock();
    span.values().for_each_last_group(metadata, [&](FieldValues const& given) {
      ShortenedValues const shortened(given, shorten_values);
      FieldValues const values = shortened.fields();
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values.value(i).is_empty()) continue;
        out.push_back(',');
        append_json_text(out, names.name(i));
        out.push_back(':');
        append_json_value(out, values.value(i));
      }
    });
  }
  out.append(",\"duration_us\":");
  append_json_value(out, us);
  out.append(",\"duration_ms\":");
  append_json_value(out, ms);
}

}}}  // namespace tracing::v1::formatting
