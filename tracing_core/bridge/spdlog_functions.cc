// Functions of spdlog's that stand in the program in place of those in its shared library, whoever calls them: the loader
// takes the first definition, and the program comes first.
//
// Weak, so that they give way without a word where the program has definitions of its own: spdlog as headers only, or as a
// static library. Where this file itself sees the headers' own, there is nothing to stand in for.
#include <dlfcn.h>

#include <spdlog/details/registry.h>
#include <spdlog/logger.h>

#include <utility>

#include "tracing_core/bridge/spdlog_hooks.h"

// The registry of code with spdlog as headers only, where such code is in the program or in a library that it names.
extern "C" {
[[gnu::weak]] extern spdlog::details::registry tracing_header_only_registry __asm__(
    "_ZZN6spdlog7details8registry8instanceEvE10s_instance");
[[gnu::weak]] extern unsigned char tracing_header_only_made __asm__("_ZGVZN6spdlog7details8registry8instanceEvE10s_instance");
}

namespace {

namespace hooks = tracing::bridge::internal;
using LoggerPtr = std::shared_ptr<spdlog::logger>;
using Registry = spdlog::details::registry;
using TakesLogger = void (*)(Registry* registry, LoggerPtr logger);

#if !defined(SPDLOG_HEADER_ONLY)
// The function that the loader would have taken.
TakesLogger next(char const* name) noexcept { return reinterpret_cast<TakesLogger>(dlsym(RTLD_NEXT, name)); }

void call_next(TakesLogger original, Registry* registry, LoggerPtr logger) {
  if (original != nullptr) original(registry, logger);
  if (logger != nullptr) hooks::on_new_logger(logger);
}
#endif

[[maybe_unused]] bool const registry_added = [] {
  if (&tracing_header_only_registry != nullptr && &tracing_header_only_made != nullptr) {
    hooks::add_registry(tracing_header_only_registry, tracing_header_only_made);
  }
  return true;
}();

}  // namespace

#if !defined(SPDLOG_HEADER_ONLY)
namespace spdlog {

[[gnu::weak]] void logger::log_it_(details::log_msg const& message, bool log_enabled, bool traceback_enabled) {
  if (log_enabled && !hooks::is_bridged()) {
    sink_it_(message);
  } else if (log_enabled) {
    hooks::Heard const heard(*this, level_.load(std::memory_order_acquire), message);
    if (heard.is_for_sinks()) sink_it_(message);
  }
  if (traceback_enabled) tracer_.push_back(message);
}

[[gnu::weak]] void logger::set_level(level::level_enum log_level) {
  level_.store(hooks::is_bridged() ? hooks::on_set_level(*this, log_level) : log_level);
}

[[gnu::weak]] level::level_enum logger::level() const {
  int const stored = level_.load(std::memory_order_relaxed);
  return static_cast<level::level_enum>(hooks::is_bridged() ? hooks::user_level(*this, stored) : stored);
}

namespace details {

[[gnu::weak]] void registry::initialize_logger(LoggerPtr logger) {
  static TakesLogger const original = next("_ZN6spdlog7details8registry17initialize_loggerESt10shared_ptrINS_6loggerEE");
  call_next(original, this, std::move(logger));
}

[[gnu::weak]] void registry::register_logger(LoggerPtr logger) {
  static TakesLogger const original = next("_ZN6spdlog7details8registry15register_loggerESt10shared_ptrINS_6loggerEE");
  call_next(original, this, std::move(logger));
}

[[gnu::weak]] void registry::set_default_logger(LoggerPtr logger) {
  static TakesLogger const original = next("_ZN6spdlog7details8registry18set_default_loggerESt10shared_ptrINS_6loggerEE");
  call_next(original, this, std::move(logger));
}

}  // namespace details
}  // namespace spdlog
#endif
