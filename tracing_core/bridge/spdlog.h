// The bridge from spdlog: a sink that turns messages into events, and functions that attach loggers to it.
//
// Works alike with spdlog as a shared or static library and as headers only. docs/spdlog.md has an example and the
// limits.
#pragma once

#include <spdlog/spdlog.h>

#include <functional>
#include <memory>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace bridge {

/// Returns an ordinary spdlog sink whose messages become events, for loggers that are built by hand. The target of an
/// event is the logger's name, or `spdlog` if the name is empty. `critical` becomes an error. The event is in the
/// current span of the thread that calls the sink. A message that a layer or a writer logs while it handles a record
/// makes no event. The sink is thread-safe.
spdlog::sink_ptr spdlog_sink();

/// Tells whether the console sinks of an attached logger keep printing. Console sinks are the sinks of
/// spdlog/sinks/stdout_sinks.h and stdout_color_sinks.h, for the standard output and error.
enum class Console { set_aside, keep };

/// Adds a spdlog_sink() to the logger, whose level does not change. A console sink that is set aside prints only
/// messages of layers and writers. While its stream is redirected, for instance by a test that captures it, the sink
/// prints all messages. Returns false if the logger is null or has a spdlog_sink() already.
///
/// REQUIRES, as the functions below do: no other thread uses the logger meanwhile, since spdlog has no lock for a
/// logger's sinks.
bool attach(std::shared_ptr<spdlog::logger> const& logger, Console console = Console::set_aside);

/// Removes the sink and restores the console sinks. Returns false if the logger is null or was not attached.
bool detach(std::shared_ptr<spdlog::logger> const& logger);

/// Attaches the default logger and all registered loggers. Call it again for loggers that are registered later.
void attach_all(Console console = Console::set_aside);

/// Detaches the default logger and all registered loggers.
void detach_all();

namespace internal {

// A registry of loggers that the library cannot reach.
struct RegistryNode {
  void (*apply_all)(std::function<void(std::shared_ptr<spdlog::logger>)> const& visit);
  RegistryNode* next = nullptr;
};
bool add_registry(RegistryNode& node) noexcept;

// Code that is compiled with spdlog as headers only may have a registry of its own. Adds this registry for
// attach_all().
#if defined(SPDLOG_HEADER_ONLY)
namespace {
RegistryNode header_only_registry{&spdlog::apply_all};
[[maybe_unused]] bool const header_only_registry_added = add_registry(header_only_registry);
}  // namespace
#endif

}  // namespace internal
}}}  // namespace tracing::v1::bridge
