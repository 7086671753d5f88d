// give_to(): calls a spdlog sink, which takes more than text and may throw. Defined in writer.cc.
#pragma once

#include <spdlog/sinks/sink.h>

#include <cstdint>
#include <string_view>

#include "tracing_core/model/instant.h"
#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 { namespace internal {

struct SinkCall {
  Level level;
  std::string_view text;  // including its line end, which is not passed on: the sink adds its own
  Instant time{};         // zero: now
  std::int64_t os_thread = 0;
  std::string_view target{};
  std::string_view file{};
  std::uint32_t line = 0;
};

// Call the sink. Catch its exceptions, which failed_sink_calls() counts.
void give_to(spdlog::sinks::sink& sink, SinkCall const& call) noexcept;
void flush_sink(spdlog::sinks::sink& sink) noexcept;

}}}  // namespace tracing::v1::internal
