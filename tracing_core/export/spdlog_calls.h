// Calls of spdlog's functions that are not inline. They are compiled into this library, so that a program which does
// not use spdlog need not load it.
#pragma once

#include <spdlog/common.h>

#include <memory>
#include <string>
#include <vector>

namespace spdlog {
class formatter;
class logger;
}  // namespace spdlog

namespace tracing { inline namespace v1 { namespace internal {

/// Returns true if the sink's level lets `level` pass.
bool should_log(spdlog::sinks::sink const& sink, spdlog::level::level_enum level) noexcept;
std::vector<spdlog::sink_ptr>& sinks_of(spdlog::logger& logger) noexcept;
std::unique_ptr<spdlog::formatter> make_pattern_formatter(std::string pattern);

}}}  // namespace tracing::v1::internal
