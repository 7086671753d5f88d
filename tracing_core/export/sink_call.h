// Declares how text is given to a sink of spdlog's, which wants more than text and may throw.
#pragma once

#include <spdlog/sinks/sink.h>

#include <cstdint>
#include <string_view>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/level.h"

namespace tracing::inline v1::internal {

struct SinkCall {
  Level level;
  std::string_view text;  // with its line end, which the sink's pattern would add again
  Instant time{};         // now where not known
  std::int64_t os_thread = 0;
  std::string_view target{};
  std::string_view file{};
  std::uint32_t line = 0;
};

// What the sink throws is counted by failed_sink_calls().
void give_to(spdlog::sinks::sink& sink, SinkCall const& call) noexcept;
void flush_sink(spdlog::sinks::sink& sink) noexcept;

}  // namespace tracing::inline v1::internal
