// Declares how a message of spdlog's becomes an event, and the callsites that such events have.
#pragma once

#include <spdlog/details/log_msg.h>

#include <string_view>

#include "tracing_core/dispatch/runtime_callsite.h"

namespace tracing::inline v1::bridge::internal {

/// The text of a view of spdlog's, which is fmt's or the standard's.
template <class View>
std::string_view text_of(View const& view) noexcept {
  return {view.data(), view.size()};
}

/// What is constant in the events of one logging statement, as far as spdlog tells it.
struct Statement {
  std::string_view logger;
  Level level;
  char const* file = nullptr;  ///< null: not known
  int line = 0;
  char const* function = nullptr;

  explicit Statement(spdlog::details::log_msg const& message) noexcept;
  /// Of a logger, wherever it is called.
  Statement(std::string_view logger_name, Level level_of_calls) noexcept : logger(logger_name), level(level_of_calls) {}
};

/// The callsite of a statement: the same one each time, unless there are more than a thousand. Thread-safe; takes a lock.
RuntimeCallsite callsite_of(Statement const& statement);

/// Emits the message as an event of `callsite`, on this thread and with the message's time. Returns what let it pass: zero
/// where it was dropped.
Verdict emit(Callsite& callsite, spdlog::details::log_msg const& message) noexcept;

/// The most verbose level of spdlog's that the subscriber may want of a logger; off where it wants none.
int wanted_level(std::string_view logger_name);

// Around a fork.
void lock_callsites() noexcept;
void unlock_callsites() noexcept;

}  // namespace tracing::inline v1::bridge::internal
