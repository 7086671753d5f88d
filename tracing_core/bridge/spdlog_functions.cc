// Functions of spdlog's that stand in the program in place of those in its shared library, whoever calls them: the loader
// takes the first definition, and the program comes first.
//
// Weak, so that they give way without a word where the program has definitions of its own: spdlog as headers only, or as a
// static library. Where this file itself sees the headers' own, there is nothing to stand in for.
#include <cxxabi.h>
#include <dlfcn.h>

#include <spdlog/async_logger.h>
#include <spdlog/details/registry.h>
#include <spdlog/logger.h>

#include <cstdlib>
#include <utility>

#include "tracing_core/bridge/spdlog_hooks.h"

// The registry of code with spdlog as headers only, where such code is in the program or in a library that it names: the
// variable in registry::instance(), and the guard of it. And what makes and ends a registry, as instance() itself is inlined.
extern "C" {
[[gnu::weak]] extern spdlog::details::registry tracing_header_only_registry __asm__(
    "_ZZN6spdlog7details8registry8instanceEvE10s_instance");
[[gnu::weak]] extern __cxxabiv1::__guard tracing_header_only_guard __asm__(
    "_ZGVZN6spdlog7details8registry8instanceEvE10s_instance");
[[gnu::weak]] void tracing_make_registry(spdlog::details::registry* registry) __asm__("_ZN6spdlog7details8registryC1Ev");
[[gnu::weak]] void tracing_end_registry(spdlog::details::registry* registry) __asm__("_ZN6spdlog7details8registryD1Ev");
}

namespace {

namespace hooks = tracing::bridge::internal;
using LoggerPtr = std::shared_ptr<spdlog::logger>;
using Registry = spdlog::details::registry;
using TakesLogger = void (*)(Registry* registry, LoggerPtr logger);
using TakesMessage = void (*)(spdlog::async_logger* logger, spdlog::details::log_msg const& message);

#if !defined(SPDLOG_HEADER_ONLY)
// The function that the loader would have taken.
template <class Function>
Function next(char const* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void call_next(TakesLogger original, Registry* registry, LoggerPtr logger) {
  if (original != nullptr) original(registry, logger);
  if (logger != nullptr) hooks::on_new_logger(logger);
}
#endif

// What the first call of registry::instance() does in such code, unless it was called by now. False where it cannot be done.
bool make_header_only_registry() noexcept {
  auto const* const is_made = reinterpret_cast<unsigned char const*>(&tracing_header_only_guard);
  if (__atomic_load_n(is_made, __ATOMIC_ACQUIRE) != 0) return true;
  if (&tracing_make_registry == nullptr || &tracing_end_registry == nullptr) return false;
  try {
    if (__cxxabiv1::__cxa_guard_acquire(&tracing_header_only_guard) == 0) return true;  // another thread did
  } catch (...) {  // this thread is in that call
    return false;
  }
  try {
    tracing_make_registry(&tracing_header_only_registry);
  } catch (...) {
    __cxxabiv1::__cxa_guard_abort(&tracing_header_only_guard);
    return false;
  }
  std::atexit([] { tracing_end_registry(&tracing_header_only_registry); });
  __cxxabiv1::__cxa_guard_release(&tracing_header_only_guard);
  return true;
}

// Before other initialisers, so that what those log is heard.
[[gnu::constructor(101)]] void add_header_only_registry() noexcept {
  if (&tracing_header_only_registry == nullptr || &tracing_header_only_guard == nullptr) return;
  hooks::add_registry(tracing_header_only_registry, make_header_only_registry);
}

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

// A copy has the level that the user gave the logger, and not the one that the bridge did.
[[gnu::weak]] logger::logger(logger const& other)
    : name_(other.name_),
      sinks_(other.sinks_),
      level_(other.level()),
      flush_level_(other.flush_level_.load(std::memory_order_relaxed)),
      custom_err_handler_(other.custom_err_handler_),
      tracer_(other.tracer_) {}

[[gnu::weak]] logger::logger(logger&& other) noexcept
    : name_(std::move(other.name_)),
      sinks_(std::move(other.sinks_)),
      level_(other.level()),
      flush_level_(other.flush_level_.load(std::memory_order_relaxed)),
      custom_err_handler_(std::move(other.custom_err_handler_)),
      tracer_(std::move(other.tracer_)) {}

[[gnu::weak]] void logger::swap(logger& other) noexcept {
  name_.swap(other.name_);
  sinks_.swap(other.sinks_);
  level::level_enum const own_level = level();
  set_level(other.level());
  other.set_level(own_level);
  other.flush_level_.store(flush_level_.exchange(other.flush_level_.load()));
  custom_err_handler_.swap(other.custom_err_handler_);
  std::swap(tracer_, other.tracer_);
}

[[gnu::weak]] void async_logger::sink_it_(details::log_msg const& message) {
  static auto const original = next<TakesMessage>("_ZN6spdlog12async_logger8sink_it_ERKNS_7details7log_msgE");
  hooks::Sent const sent(message);
  if (original != nullptr) original(this, message);
}

[[gnu::weak]] void async_logger::backend_sink_it_(details::log_msg const& message) {
  static auto const original = next<TakesMessage>("_ZN6spdlog12async_logger16backend_sink_it_ERKNS_7details7log_msgE");
  hooks::Arrived const arrived(message);
  if (original != nullptr) original(this, message);
}

[[gnu::weak]] void logger::set_level(level::level_enum log_level) {
  hooks::is_bridged() ? hooks::on_set_level(*this, log_level) : level_.store(log_level);
}

[[gnu::weak]] level::level_enum logger::level() const {
  int const stored = level_.load(std::memory_order_relaxed);
  return static_cast<level::level_enum>(hooks::is_bridged() ? hooks::user_level(*this, stored) : stored);
}

namespace details {

[[gnu::weak]] void registry::initialize_logger(LoggerPtr logger) {
  static auto const original = next<TakesLogger>("_ZN6spdlog7details8registry17initialize_loggerESt10shared_ptrINS_6loggerEE");
  call_next(original, this, std::move(logger));
}

[[gnu::weak]] void registry::register_logger(LoggerPtr logger) {
  static auto const original = next<TakesLogger>("_ZN6spdlog7details8registry15register_loggerESt10shared_ptrINS_6loggerEE");
  call_next(original, this, std::move(logger));
}

[[gnu::weak]] void registry::set_default_logger(LoggerPtr logger) {
  static auto const original = next<TakesLogger>("_ZN6spdlog7details8registry18set_default_loggerESt10shared_ptrINS_6loggerEE");
  call_next(original, this, std::move(logger));
}

}  // namespace details
}  // namespace spdlog
#endif
