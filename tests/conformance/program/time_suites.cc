// The cases of datetime.json and timing_display.json: text of times and durations.
#include "tracing_core/format/datetime.h"
#include "tracing_core/format/duration_text.h"

#include "object_reader.h"
#include "suite.h"

namespace conformance {
namespace {

Json datetime(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  auto const seconds = reader.get<std::int64_t>("secs");
  auto const nanoseconds = reader.get<std::uint32_t>("nanos");
  reader.finish();
  tracing::InlineTextBuffer<64> text;
  tracing::append_utc_time(text, seconds, nanoseconds);
  return {{"rfc3339", text.view()}};
}

Json duration(Json const& input, std::size_t) {
  ObjectReader reader(input, "the input");
  auto const nanoseconds = reader.get<std::uint64_t>("ns");
  reader.finish();
  tracing::InlineTextBuffer<64> text;
  tracing::append_duration(text, nanoseconds);
  return {{"text", text.view()}};
}

}  // namespace

constinit Suite const kDatetime{.file = "datetime", .tasks_per_process = 64, .answer = datetime};
constinit Suite const kTimingDisplay{.file = "timing_display", .tasks_per_process = 64, .answer = duration};

}  // namespace conformance
