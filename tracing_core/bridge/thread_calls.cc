// The ordinary way of a message: what is known of its statement and of its logger stands in a table of the thread, so that
// no lock is taken and nothing is allocated.
#include "tracing_core/bridge/thread_calls.h"

#include <cstring>
#include <optional>
#include <utility>

#include "tracing_core/bridge/message_events.h"
#include "tracing_core/bridge/spdlog_hooks.h"

namespace tracing::inline v1::bridge::internal {
namespace {

// One statement as it was last seen.
struct Known {
  std::uint64_t generation = 0;
  spdlog::logger const* logger = nullptr;  // null: a sink heard it
  char const* file = nullptr;
  int line = 0;
  int level = 0;
  LoggerLevels levels;
  std::optional<RuntimeCallsite> callsite;

  // Addresses are used again, by other loggers and for other text.
  bool is_of(spdlog::logger const* of, std::uint64_t now, spdlog::details::log_msg const& message) const noexcept {
    if (logger != of || generation != now || level != message.level || line != message.source.line ||
        file != message.source.filename)
      return false;
    if (!callsite) return false;
    Metadata const& metadata = callsite->metadata();
    std::string_view const name = text_of(message.logger_name);
    if (metadata.target() != (name.empty() ? std::string_view("spdlog") : name)) return false;
    if (line > 0 && file != nullptr && std::strcmp(metadata.file().data(), file) != 0) return false;
    return levels.lowered_to == kNotLowered || !levels.alive.expired();
  }
};

constexpr std::size_t kKnown = 32;  // a power of two

struct Table {
  Known known[kKnown];

  Known& place_of(spdlog::logger const* logger, spdlog::details::log_msg const& message) noexcept {
    auto const hash = reinterpret_cast<std::uintptr_t>(logger) / 16 * 31 +
                      reinterpret_cast<std::uintptr_t>(message.source.filename) +
                      static_cast<std::uintptr_t>(message.source.line) * 7 + static_cast<std::uintptr_t>(message.level);
    return known[(hash ^ hash >> 7) % kKnown];
  }
};

struct ThreadCalls {
  void const* current = nullptr;  // the message that is being handled and was heard
  bool muted = false;             // for it console sinks are mute
  bool ending = false;
  Table* table = nullptr;
};
constinit thread_local ThreadCalls calls;

struct TableOwner {
  ~TableOwner() {
    calls.ending = true;
    delete std::exchange(calls.table, nullptr);
  }
};

Table* table_of_thread() {
  if (calls.table != nullptr) [[likely]] return calls.table;
  if (calls.ending) return nullptr;
  thread_local TableOwner owner;
  (void)&owner;
  return calls.table = new Table;
}

constinit thread_local spdlog::logger const* probed = nullptr;

void look_up(Known& known, spdlog::logger* logger, std::uint64_t generation, spdlog::details::log_msg const& message) {
  LoggerLevels levels;
  if (logger != nullptr) levels = levels_of(*logger);
  known = Known{generation, logger, message.source.filename, message.source.line, message.level, std::move(levels),
                callsite_of(Statement(message))};
}

// Makes an event of the message. Whether sinks would see it without the bridge, where `logger` with the level `stored` logs it.
bool hear(spdlog::logger* logger, int stored, spdlog::details::log_msg const& message) {
  std::uint64_t const generation = levels_generation.load(std::memory_order_acquire);
  Table* const table = table_of_thread();
  Known once;
  Known& known = table == nullptr ? once : table->place_of(logger, message);
  if (!known.is_of(logger, generation, message)) [[unlikely]] look_up(known, logger, generation, message);
  bool const is_lowered = stored == known.levels.lowered_to;
  bool const for_sinks = message.level >= (is_lowered ? known.levels.user_level : user_level_in(stored));
  RuntimeCallsite const kept = *known.callsite;  // what is called may log, too
  calls.muted = mutes_console(emit(kept.callsite(), message));
  return for_sinks;
}

// What stands in a message that console sinks are mute for: nobody reads it before a formatter has written there.
constexpr std::size_t kMuted = SIZE_MAX;

}  // namespace

void Heard::hear(spdlog::logger* logger, int level, spdlog::details::log_msg const& message) noexcept {
  new_ = true;
  calls.current = &message;
  calls.muted = false;
  try {
    for_sinks_ = internal::hear(logger, level, message);
  } catch (...) {  // no memory: it is not shown
  }
}

Heard::Heard(spdlog::logger& logger, int level, spdlog::details::log_msg const& message) noexcept
    : before_(calls.current), muted_before_(calls.muted) {
  if (probed == &logger) [[unlikely]] {
    probed = nullptr;
    return;
  }
  // A message of another make of spdlog has its parts elsewhere.
  if (text_of(message.logger_name).data() == logger.name().data()) hear(&logger, level, message);
}

Heard::Heard(spdlog::details::log_msg const& message) noexcept : before_(calls.current), muted_before_(calls.muted) {
  if (is_bridged() && calls.current != &message) hear(nullptr, 0, message);
}

Heard::~Heard() {
  calls.current = before_;
  calls.muted = muted_before_;
}

Sent::Sent(spdlog::details::log_msg const& message) noexcept : message_(message) {
  if (calls.muted) message.color_range_start = kMuted;
}
Sent::~Sent() { message_.color_range_start = 0; }

Arrived::Arrived(spdlog::details::log_msg const& copy) noexcept : muted_before_(calls.muted) {
  if (copy.color_range_start != kMuted) return;
  copy.color_range_start = 0;
  calls.muted = true;
}
Arrived::~Arrived() { calls.muted = muted_before_; }

bool is_mute_here() noexcept { return calls.muted; }

bool is_heard(spdlog::logger const& logger, void (*log)(spdlog::logger const& logger)) {
  probed = &logger;
  log(logger);
  return std::exchange(probed, nullptr) == nullptr;
}

}  // namespace tracing::inline v1::bridge::internal
