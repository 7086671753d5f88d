// Declares the bridge from spdlog: what a program logs with spdlog becomes events in the spans that the logging thread is in.
//
// With the shared spdlog every logger is heard, now and in the future, on the thread that logs: an object that
// tracing::spdlog puts into the program stands before spdlog's own logger::log_it_. What was compiled with spdlog as headers
// only has no such place. There the loggers in spdlog's registry are heard, and those given to attach(), by a sink that is put
// before their own. docs/spdlog.md has the table.
#pragma once

#include <spdlog/logger.h>

#include <memory>

#include "tracing_core/dispatch/subscriber.h"

namespace tracing::inline v1::bridge {
namespace internal {

// Whether this file is compiled with spdlog as headers only.
#ifdef SPDLOG_HEADER_ONLY
constexpr bool kHeadersOnly = true;
#else
constexpr bool kHeadersOnly = false;
#endif

}  // namespace internal

struct SpdlogOptions {
  /// Loggers let pass what the subscriber wants of them, also below their level. Their own sinks see no more than before.
  bool lower_levels = true;
  /// spdlog's console sinks print nothing, since the lines are shown as events. Only what would go where the standard output
  /// and error of the process went when the bridge was installed: a test that captures them gets what it expects.
  bool mute_console = false;
  /// Where given: whether a message of which an event was made, for the layers in `verdict`, is sure to be seen as one. Where
  /// not, its console sinks print it. Called on the thread that logs.
  bool (*is_kept)(Verdict verdict) noexcept = nullptr;
};

/// From now on what is logged becomes events: target is the logger's name, `spdlog` where that is empty; critical is an error.
/// False, and nothing happens, where it is installed already. Thread-safe; loggers that are heard by a sink must not log
/// meanwhile, here and in the next three calls, as spdlog has no lock for a logger's sinks.
bool install_spdlog(SpdlogOptions const& options = {});

/// The loggers are again as they would be without the bridge: levels that the user changed meanwhile stay changed.
void uninstall_spdlog();

/// Looks once more into spdlog's registry: for loggers and sinks that were made since, where they are not heard by themselves.
void refresh_spdlog();

/// Hears also this logger, which is in no registry or not yet refreshed, while the bridge is installed and the logger lives.
/// False where it cannot be heard: an async logger of spdlog as headers only, to be made by async_factory instead.
/// `headers_only` is whether the code that logs was compiled with spdlog as headers only: as the caller's.
bool attach(std::shared_ptr<spdlog::logger> const& logger, bool headers_only = internal::kHeadersOnly);

}  // namespace tracing::inline v1::bridge
