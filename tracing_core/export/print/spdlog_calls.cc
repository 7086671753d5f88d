// Compiled with spdlog as headers only and with hidden symbols: see CMakeLists.txt.
#include "tracing_core/export/spdlog_calls.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/sink.h>

#include <utility>

namespace tracing { inline namespace v1 { namespace internal {

bool should_log(spdlog::sinks::sink const& sink, spdlog::level::level_enum level) noexcept {
  return sink.should_log(level);
}
std::vector<spdlog::sink_ptr>& sinks_of(spdlog::logger& logger) noexcept { return logger.sinks(); }
std::unique_ptr<spdlog::formatter> make_pattern_formatter(std::string pattern) {
  return std::make_unique<spdlog::pattern_formatter>(std::move(pattern));
}

}}}  // namespace tracing::v1::internal
