// Declares how spdlog's console sinks are kept from printing what is shown as events.
#pragma once

#include <spdlog/common.h>

#include <vector>

namespace tracing::inline v1::bridge::internal {

/// Remembers where the standard output and error go now: there, and only there, muted sinks print nothing.
void remember_console() noexcept;

/// Mutes those of `sinks` that are console sinks of spdlog's, also where they stand behind a dist_sink or an async logger of
/// ours. They still print what does not come by a message for which they are mute: a backtrace. Thread-safe.
void mute_console_sinks(std::vector<spdlog::sink_ptr> const& sinks);

/// All sinks print again.
void unmute_console_sinks();

// Around a fork.
void lock_muted() noexcept;
void unlock_muted() noexcept;

}  // namespace tracing::inline v1::bridge::internal
