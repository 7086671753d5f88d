// Declares what the bridge knows of the calls that a thread makes, and how it hears them.
#pragma once

#include <spdlog/details/log_msg.h>
#include <spdlog/logger.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <memory>

#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1::bridge::internal {

inline constexpr int kNotLowered = INT_MIN;

/// A level in place of `user_level` by which everything passes. It is none that a user sets, and tells the one in whose place
/// it stands, also where it was copied with the logger.
constexpr int everything_in_place_of(int user_level) noexcept { return -1 - user_level; }
/// The level that the user wants where `stored` stands in a logger of which nothing else is known.
constexpr int user_level_in(int stored) noexcept {
  return stored < 0 && stored >= everything_in_place_of(spdlog::level::off) ? -1 - stored : stored;
}

/// The level as it stands in a logger, whatever its level() says.
inline spdlog::level_t& stored_level_of(spdlog::logger& logger) noexcept {
  struct Access : spdlog::logger {
    static spdlog::level_t spdlog::logger::* level() noexcept { return &Access::level_; }
  };
  return logger.*Access::level();
}
inline int stored_level(spdlog::logger const& logger) noexcept {
  return stored_level_of(const_cast<spdlog::logger&>(logger)).load(std::memory_order_relaxed);
}

/// What is known of a logger whose level is the bridge's concern.
struct LoggerLevels {
  std::weak_ptr<spdlog::logger> alive;
  int user_level = spdlog::level::trace;  ///< what its sinks see, while it has the level `lowered_to`
  int lowered_to = kNotLowered;
};

/// What the bridge knows of a logger now; `alive` is empty where nothing. Takes a lock.
LoggerLevels levels_of(spdlog::logger& logger);

/// Raised whenever what levels_of() says may have changed.
extern constinit std::atomic<std::uint64_t> levels_generation;

/// Whether this thread is in a message for which console sinks are mute: an event was made of it, and nobody misses the text.
bool is_mute_here() noexcept;

/// Whether console sinks are mute for a message of which an event was made that `verdict` let pass.
bool mutes_console(Verdict verdict) noexcept;

/// Calls `log` and says whether a message that it logs by `logger` comes to Heard.
bool is_heard(spdlog::logger const& logger, void (*log)(spdlog::logger const& logger));

}  // namespace tracing::inline v1::bridge::internal
