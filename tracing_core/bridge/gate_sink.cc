#include "tracing_core/bridge/gate_sink.h"

#include <exception>

#include "tracing_core/bridge/message_events.h"
#include "tracing_core/bridge/spdlog_hooks.h"
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

// The lines before and after a backtrace come past log_it_(), as its messages do.
bool is_frame_of_backtrace(spdlog::details::log_msg const& message) noexcept {
  std::string_view const text = text_of(message.payload);
  return message.level == spdlog::level::info && message.source.empty() &&
         (text == "****************** Backtrace Start ******************" ||
          text == "****************** Backtrace End ********************");
}

// As spdlog does what a sink throws.
void report(spdlog::logger& logger, std::exception const& thrown, spdlog::source_loc const& source) {
  using Handler = void (spdlog::logger::*)(std::string const&);
  struct Access : spdlog::logger {
    static Handler handler() noexcept { return &Access::err_handler_; }
  };
  std::string text = thrown.what();
  if (source.filename != nullptr) {
    text.append(" [").append(source.filename).append("(").append(std::to_string(source.line)).append(")]");
  }
  (logger.*Access::handler())(text);
}

}  // namespace

GateSink::GateSink(std::shared_ptr<spdlog::logger> const& logger)
    : logger_(logger.get()), alive_(logger), user_level_(stored_level(*logger)), lowered_to_(kNotLowered) {
  level_ = 2 * kHidden;
}

void GateSink::set_levels(int user_level, int lowered_to) noexcept {
  user_level_.store(user_level, std::memory_order_relaxed);
  lowered_to_.store(lowered_to, std::memory_order_relaxed);
}

bool GateSink::is_of_logger(spdlog::details::log_msg const& message) const noexcept {
  return !alive_.expired() && text_of(message.logger_name).data() == logger_->name().data();
}

// The sinks behind get it here, while it is heard: they are called one after another, and nobody would tell where that ends.
// Hidden afterwards, it is passed over by the logger, and known where it comes out of a backtrace.
void GateSink::log(spdlog::details::log_msg const& message) {
  if (message.level < spdlog::level::trace) return add_to_level(message, -kHidden);  // out of a backtrace, heard before
  if (is_frame_of_backtrace(message)) return;
  Heard const heard(message);
  if (!heard.is_new() || !is_of_logger(message)) return;
  bool const is_lowered = stored_level(*logger_) == lowered_to_.load(std::memory_order_relaxed);
  if (!is_lowered || message.level >= user_level_.load(std::memory_order_relaxed)) hand_on(message);
  add_to_level(message, kHidden);
}

void GateSink::hand_on(spdlog::details::log_msg const& message) {
  for (auto const& behind : logger_->sinks()) {
    if (behind.get() == this || !behind->should_log(message.level)) continue;
    try {
      behind->log(message);
    } catch (std::exception const& thrown) {
      report(*logger_, thrown, message.source);
    }
  }
  if (message.level >= logger_->flush_level() && message.level != spdlog::level::off) logger_->flush();
}

}  // namespace tracing::inline v1::bridge::internal
