#include "tracing_core/bridge/gate_sink.h"

#include "tracing_core/bridge/message_events.h"
#include "tracing_core/bridge/thread_calls.h"

namespace tracing::inline v1::bridge::internal {
namespace {

// A hidden message has a level so low that no sink takes it: sinks are asked one after another, and ask the message. It is
// the logger's own variable, or its copy in a backtrace, and never a constant.
constexpr int kHidden = -16;

void add_to_level(spdlog::details::log_msg const& message, int more) noexcept {
  auto& level = const_cast<spdlog::details::log_msg&>(message).level;
  level = static_cast<spdlog::level::level_enum>(level + more);
}

}  // namespace

GateSink::GateSink(spdlog::logger const& logger)
    : name_(logger.name().data()), logger_(logger), user_level_(stored_level(logger)), lowered_to_(kNotLowered) {
  level_ = 2 * kHidden;
}

void GateSink::set_levels(int user_level, int lowered_to) noexcept {
  user_level_.store(user_level, std::memory_order_relaxed);
  lowered_to_.store(lowered_to, std::memory_order_relaxed);
}

void GateSink::log(spdlog::details::log_msg const& message) {
  if (message.level < spdlog::level::trace) return add_to_level(message, -kHidden);  // out of a backtrace, heard before
  hear(message);
  bool const is_own = text_of(message.logger_name).data() == name_;
  if (!is_own || message.level >= user_level_.load(std::memory_order_relaxed)) return;
  if (stored_level(logger_) == lowered_to_.load(std::memory_order_relaxed)) add_to_level(message, kHidden);
}

}  // namespace tracing::inline v1::bridge::internal
