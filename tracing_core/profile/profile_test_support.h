// Helpers for tests of profiles.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tracing_core/model/text_buffer.h"
#include "tracing_core/profile/recorded_profile.h"
#include "tracing_core/record/spans.h"

namespace tracing_test {

/// Returns the spans and events of a recording in the order of time, each with the spans around it:
/// `outer > inner{n=1}`.
inline std::vector<std::string> lines_of(tracing::recording::Recording& recording) {
  using tracing::recording::EntryType;
  std::vector<std::string> lines;
  tracing::recording::Spans spans;
  recording.for_each([&](tracing::recording::Entry const& entry) {
    spans.follow(entry);
    bool const is_span = begins_span(entry.type);
    if ((!is_span && entry.type != EntryType::event) || entry.is_context) return;
    std::string line;
    auto const* span = spans.current();
    for (span = is_span ? span->parent.get() : span; span != nullptr; span = span->parent.get())
      line.insert(0, std::string(span->metadata->name()) + " > ");
    line += entry.metadata->name();
    tracing::InlineTextBuffer<256> fields;
    if (entry.values != nullptr) {
      tracing::FieldValues const values(*entry.metadata, entry.values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        fields.append(i == 0 ? "{" : " ");
        fields.append(values.name(i));
        fields.push_back('=');
        if (values.name(i) == "message") {
          tracing::append_message(fields, values.value(i));
        } else {
          tracing::append_debug(fields, values.value(i));
        }
      }
      if (values.size() > 0) fields.push_back('}');
    }
    lines.push_back(line + std::string(fields.view()));
  });
  return lines;
}

/// Returns the lines of a profile that is recorded while `f` runs.
template <class F>
std::vector<std::string> profiled(F&& f, tracing::ProfilerOptions const& options = {}) {
  EXPECT_EQ(tracing::internal::start_recording(options), "");
  f();
  auto const profile = tracing::internal::stop_recording();
  EXPECT_EQ(profile.error, "");
  EXPECT_EQ(profile.overwritten, 0u);
  return profile.recording == nullptr ? std::vector<std::string>() : lines_of(*profile.recording);
}

}  // namespace tracing_test
