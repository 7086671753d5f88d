#include "tracing_core/record/tests.h"

#include <cstdlib>

#include "tracing_core/model/debug_writer.h"
#include "tracing_core/model/text_buffer.h"

namespace tracing { inline namespace v1 { namespace recording {

std::string text_of_field(Entry const& entry, std::string_view name) {
  if (entry.metadata == nullptr || entry.values == nullptr) return {};
  FieldValues const fields = entry.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.name(i) != name || fields.value(i).is_empty()) continue;
    if (fields.value(i).kind() == ValueKind::text) return std::string(fields.value(i).as_text());
    InlineTextBuffer<64> text;
    append_debug(text, fields.value(i));
    return std::string(text.view());
  }
  return {};
}

bool is_test_begin(Entry const& entry) noexcept {
  return entry.type == EntryType::mark && entry.metadata->name() == "test_begin";
}
bool is_test_end(Entry const& entry) noexcept {
  return entry.type == EntryType::mark && entry.metadata->name() == "test_end";
}

std::map<std::uint32_t, Test> tests_of(Recording& recording) {
  std::map<std::uint32_t, Test> tests;
  if (!recording.runs_tests()) return tests;
  for_each_mark(recording, [&tests](Entry const& entry) {
    if (is_test_begin(entry)) {
      tests[entry.tag] = {.name = text_of_field(entry, "test"),
                          .value = text_of_field(entry, "value_param"),
                          .type = text_of_field(entry, "type_param"),
                          .begin = entry.time};
    } else if (is_test_end(entry)) {
      Test& test = tests[entry.tag];
      test.result = text_of_field(entry, "result");
      test.duration_ms = std::strtoull(text_of_field(entry, "duration_ms").c_str(), nullptr, 10);
    }
  });
  return tests;
}

}}}  // namespace tracing::v1::recording
