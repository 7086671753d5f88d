#include "tracing_core/bridge/spdlog.h"

#include <pthread.h>

#include <spdlog/async_logger.h>
#include <spdlog/details/registry.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "tracing_core/bridge/console_mute.h"
#include "tracing_core/bridge/gate_sink.h"
#include "tracing_core/bridge/message_events.h"
#include "tracing_core/bridge/spdlog_hooks.h"
#include "tracing_core/bridge/thread_calls.h"
#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1::bridge {
namespace internal {

constinit std::atomic<std::uint64_t> levels_generation{1};

}  // namespace internal

namespace {

using internal::GateSink;
using internal::kNotLowered;
using internal::levels_generation;
using LoggerPtr = std::shared_ptr<spdlog::logger>;

constinit std::atomic<bool> bridged{false};
constinit std::atomic<std::uint64_t> rebuilds{0};  // how often filters have changed

// A logger whose level is the bridge's concern while it is installed.
struct Adopted {
  std::weak_ptr<spdlog::logger> logger;
  spdlog::logger const* address;
  int user_level;
  int wanted;
  int lowered_to;
  std::shared_ptr<GateSink> gate;  // null where it is heard by itself

  // The level for the logger to have where the user wants `level`.
  int take(int level) {
    user_level = level;
    lowered_to = wanted < level ? wanted : kNotLowered;
    // Where set_level() does not tell us, what it stores has to differ from what we do, whatever the level.
    bool const is_told = gate == nullptr && wanted > spdlog::level::trace;
    if (wanted < level && !is_told) lowered_to = internal::everything_in_place_of(level);
    if (gate != nullptr) gate->set_levels(user_level, lowered_to);
    return lowered_to == kNotLowered ? level : lowered_to;
  }
  int level_of_user(int stored) const noexcept {
    return stored == lowered_to ? user_level : internal::user_level_in(stored);
  }
};

struct HeaderOnlyRegistry {
  spdlog::details::registry* registry;
  bool (*make)() noexcept;
};

struct Attached {
  std::weak_ptr<spdlog::logger> logger;
  bool by_sink;
};

struct Bridge {
  std::atomic<bool> lower_levels{false};
  std::atomic<bool> mute_console{false};
  std::atomic<bool (*)(Verdict) noexcept> is_kept{nullptr};
  std::atomic<bool> calls_are_heard{false};
  std::mutex mutex;
  std::vector<Adopted> adopted;                 // guarded by mutex
  std::vector<Attached> attached;               // guarded by mutex
  std::vector<HeaderOnlyRegistry> header_only;  // guarded by mutex
};

Bridge& bridge() {
  static tracing::internal::NeverDestroyed<Bridge> one;
  return *one;
}

bool is_async(spdlog::logger const& logger) { return dynamic_cast<spdlog::async_logger const*>(&logger) != nullptr; }

// REQUIRES: mutex held.
Adopted* find(spdlog::logger const& logger) {
  for (Adopted& one : bridge().adopted) {
    if (one.address == &logger && !one.logger.expired()) return &one;
  }
  return nullptr;
}

bool is_gate(spdlog::sink_ptr const& sink) { return dynamic_cast<GateSink const*>(sink.get()) != nullptr; }

void put_first(spdlog::logger& logger, std::shared_ptr<GateSink> const& gate) {
  auto& sinks = logger.sinks();
  if (!sinks.empty() && sinks[0] == gate && std::none_of(sinks.begin() + 1, sinks.end(), is_gate)) return;
  std::erase_if(sinks, is_gate);  // a clone has that of the logger that it was made of
  sinks.insert(sinks.begin(), gate);
}

// REQUIRES: mutex held. Stores the level that the logger is to have.
void store_level(Adopted& known, spdlog::logger& logger) {
  spdlog::level_t& stored = internal::stored_level_of(logger);
  int const before = stored.load();
  int const after = known.take(known.level_of_user(before));
  if (after == before) return;
  levels_generation.fetch_add(1, std::memory_order_release);  // first: who sees the new level knows why it is there
  stored.store(after);
}

// What follows asks the subscriber, and so callers do it without the lock.
void update_levels(std::vector<LoggerPtr> const& loggers) {
  for (LoggerPtr const& logger : loggers) {
    std::uint64_t seen;
    do {  // once more where another thread changed a filter meanwhile, and stored its answer before this one
      seen = rebuilds.load();
      int const wanted = bridge().lower_levels ? internal::wanted_level(logger->name()) : spdlog::level::off;
      std::lock_guard const lock(bridge().mutex);
      Adopted* const known = find(*logger);
      if (known == nullptr || !bridged.load(std::memory_order_relaxed)) break;
      known->wanted = wanted;
      store_level(*known, *logger);
    } while (rebuilds.load() != seen);
  }
}

// Makes the logger one whose level and sinks are the bridge's concern, unless it cannot be heard. True where it is new.
bool adopt(LoggerPtr const& logger, bool by_sink) {
  if (by_sink && is_async(*logger)) {
    if (!bridge().calls_are_heard) return false;
    by_sink = false;
  }
  bool is_new = false;
  {
    std::lock_guard const lock(bridge().mutex);
    Adopted* known = find(*logger);
    if (known == nullptr) {
      is_new = true;
      std::erase_if(bridge().adopted, [](Adopted const& one) { return one.logger.expired(); });
      int const level = internal::user_level_in(internal::stored_level(*logger));
      bridge().adopted.push_back({logger, logger.get(), level, spdlog::level::off, kNotLowered, {}});
      known = &bridge().adopted.back();
    }
    if (by_sink && known->gate == nullptr) known->gate = std::make_shared<GateSink>(logger);
    if (known->gate != nullptr) put_first(*logger, known->gate);
    if (!is_new) store_level(*known, *logger);  // the user may have set another one
  }
  if (bridge().mute_console) internal::mute_console_sinks(logger->sinks());
  return is_new;
}

void add_loggers(spdlog::details::registry& registry, std::vector<LoggerPtr>& loggers) {
  registry.apply_all([&loggers](LoggerPtr const& logger) { loggers.push_back(logger); });
}

std::vector<LoggerPtr> adopted_loggers() {
  std::vector<LoggerPtr> loggers;
  std::lock_guard const lock(bridge().mutex);
  for (Adopted const& one : bridge().adopted) {
    if (LoggerPtr logger = one.logger.lock()) loggers.push_back(std::move(logger));
  }
  return loggers;
}

void on_rebuild() noexcept {
  try {
    ++rebuilds;
    if (bridged.load(std::memory_order_acquire)) update_levels(adopted_loggers());
  } catch (...) {  // no memory: levels stay as they are
  }
}

void log_once(spdlog::logger const& logger) {
  const_cast<spdlog::logger&>(logger).log(spdlog::source_loc(), spdlog::level::critical, spdlog::string_view_t());
}

// Whether a call as this library's own, compiled for the shared spdlog, comes to us.
bool calls_are_heard() {
  spdlog::logger const probe("tracing::bridge", spdlog::sinks_init_list{});
  return internal::is_heard(probe, log_once);
}

void lock_all() {
  bridge().mutex.lock();
  internal::lock_callsites();
  internal::lock_muted();
}

void unlock_all() {
  internal::unlock_muted();
  internal::unlock_callsites();
  bridge().mutex.unlock();
}

// Before there are threads, if this copy of the bridge is there by then.
[[gnu::constructor]] void prepare_fork_once() noexcept {
  [[maybe_unused]] static bool const prepared = pthread_atfork(lock_all, unlock_all, unlock_all) == 0;
}

}  // namespace

namespace internal {

bool mutes_console(Verdict verdict) noexcept {
  if (!bridge().mute_console || tracing::internal::thread_state.in_subscriber) return false;
  auto const is_kept = bridge().is_kept.load(std::memory_order_relaxed);
  return is_kept == nullptr || is_kept(verdict);
}

bool is_bridged() noexcept { return bridged.load(std::memory_order_acquire); }

LoggerLevels levels_of(spdlog::logger& logger) {
  {
    std::lock_guard const lock(bridge().mutex);
    if (Adopted const* const known = find(logger)) return {known->logger, known->user_level, known->lowered_to};
  }
  if (bridge().mute_console) mute_console_sinks(logger.sinks());  // a sink that nobody registered
  return {};
}

void on_new_logger(LoggerPtr const& logger) noexcept {
  if (!is_bridged()) return;
  try {
    if (adopt(logger, !bridge().calls_are_heard)) update_levels({logger});
  } catch (...) {
  }
}

void on_set_level(spdlog::logger& logger, int level) noexcept {
  std::lock_guard const lock(bridge().mutex);  // and stored under it: else a filter that changes meanwhile has another say
  Adopted* const known = find(logger);
  int const stored = known == nullptr ? level : known->take(level);
  if (known != nullptr) levels_generation.fetch_add(1, std::memory_order_release);
  stored_level_of(logger).store(stored);
}

int user_level(spdlog::logger const& logger, int stored) noexcept {
  std::lock_guard const lock(bridge().mutex);
  Adopted const* const known = find(logger);
  return known == nullptr ? user_level_in(stored) : known->level_of_user(stored);
}

void add_registry(spdlog::details::registry& registry, bool (*make)() noexcept) noexcept {
  try {
    {
      std::lock_guard const lock(bridge().mutex);
      auto& all = bridge().header_only;
      if (std::any_of(all.begin(), all.end(), [&](HeaderOnlyRegistry const& one) { return one.registry == &registry; })) return;
      all.push_back({&registry, make});
    }
    refresh_spdlog();  // testlog's libraries installed the bridge before the program's first initialiser
  } catch (...) {
  }
}

}  // namespace internal

bool install_spdlog(SpdlogOptions const& options) {
  prepare_fork_once();
  {
    std::lock_guard const lock(bridge().mutex);
    if (bridged.load(std::memory_order_relaxed)) return false;
    bridge().lower_levels = options.lower_levels;
    bridge().mute_console = options.mute_console;
    bridge().is_kept = options.is_kept;
    if (options.mute_console) internal::remember_console();
    bridged.store(true, std::memory_order_release);
  }
  bridge().calls_are_heard = calls_are_heard();
  tracing::internal::listen_to_rebuilds(on_rebuild);
  refresh_spdlog();
  return true;
}

void refresh_spdlog() {
  if (!internal::is_bridged()) return;
  std::vector<LoggerPtr> by_sink, by_itself;
  std::vector<HeaderOnlyRegistry> header_only;
  {
    std::lock_guard const lock(bridge().mutex);
    header_only = bridge().header_only;
    std::erase_if(bridge().attached, [](Attached const& one) { return one.logger.expired(); });
    for (Attached const& one : bridge().attached) {
      if (LoggerPtr logger = one.logger.lock()) (one.by_sink ? by_sink : by_itself).push_back(std::move(logger));
    }
  }
  auto* const shared = &spdlog::details::registry::instance();
  bool shared_by_sink = !bridge().calls_are_heard;
  for (HeaderOnlyRegistry const& one : header_only) {
    if (one.registry == shared) {
      shared_by_sink = true;
    } else if (one.make()) {  // a program that has not yet logged has none
      add_loggers(*one.registry, by_sink);
    }
  }
  add_loggers(*shared, shared_by_sink ? by_sink : by_itself);
  std::erase_if(by_sink, [](LoggerPtr const& logger) { return !adopt(logger, true); });
  std::erase_if(by_itself, [](LoggerPtr const& logger) { return !adopt(logger, false); });
  update_levels(by_sink);
  update_levels(by_itself);
}

bool attach(LoggerPtr const& logger, bool headers_only) {
  if (logger == nullptr) return false;
  bool const by_sink = headers_only || (internal::is_bridged() && !bridge().calls_are_heard);
  if (by_sink && is_async(*logger)) return false;
  {
    std::lock_guard const lock(bridge().mutex);
    bridge().attached.push_back({logger, headers_only});
  }
  if (internal::is_bridged() && adopt(logger, by_sink)) update_levels({logger});
  return true;
}

void uninstall_spdlog() {
  std::vector<LoggerPtr> gated;
  std::vector<LoggerPtr> loggers;  // destroyed without the lock
  {
    std::lock_guard const lock(bridge().mutex);
    if (!bridged.load(std::memory_order_relaxed)) return;
    for (Adopted const& one : bridge().adopted) {
      LoggerPtr logger = one.logger.lock();
      if (logger == nullptr) continue;
      int stored = internal::stored_level(*logger);
      internal::stored_level_of(*logger).compare_exchange_strong(stored, one.level_of_user(stored));
      if (one.gate != nullptr) gated.push_back(logger);
      loggers.push_back(std::move(logger));
    }
    bridge().adopted.clear();
    levels_generation.fetch_add(1, std::memory_order_release);
    bridged.store(false, std::memory_order_release);
  }
  tracing::internal::listen_to_rebuilds(nullptr);
  for (LoggerPtr const& logger : gated) std::erase_if(logger->sinks(), is_gate);
  internal::unmute_console_sinks();
}

}  // namespace tracing::inline v1::bridge
