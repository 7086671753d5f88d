// SpanPathFlag: a flag for spdlog patterns that prints the spans of the logging thread.
#pragma once

#include <spdlog/details/os.h>
#include <spdlog/pattern_formatter.h>

#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "tracing_core/format/span_path.h"

namespace tracing { inline namespace v1 { namespace bridge {

/// Prints `outer{id=7}:inner`, and nothing outside of spans. Prints nothing for an async logger, whose messages are
/// formatted on another thread than they were logged on.
class SpanPathFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(spdlog::details::log_msg const& message, std::tm const&, spdlog::memory_buf_t& out) override {
    if (message.thread_id != spdlog::details::os::thread_id()) return;
    InlineTextBuffer<256> path;
    append_current_path(path);
    out.append(path.view().data(), path.view().data() + path.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override { return std::make_unique<SpanPathFlag>(); }
};

/// Returns a formatter that prints the span path for `%*`, or for `%` and another character:
/// `spdlog::set_formatter(tracing::bridge::span_path_formatter("%H:%M:%S %^%l%$ %*: %v"))`.
inline std::unique_ptr<spdlog::formatter> span_path_formatter(std::string pattern, char flag = '*') {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<SpanPathFlag>(flag).set_pattern(std::move(pattern));
  return formatter;
}

}}}  // namespace tracing::v1::bridge
