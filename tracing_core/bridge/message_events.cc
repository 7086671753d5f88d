#include "tracing_core/bridge/message_events.h"

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tracing_core/dispatch/dispatcher.h"
#include "tracing_core/dispatch/thread_state.h"
#include "tracing_core/emit/emit.h"
#include "tracing_core/export/line_sink.h"
#include "tracing_core/internal/never_destroyed.h"

namespace tracing::inline v1::bridge::internal {
namespace {

using tracing::internal::NeverDestroyed;

// Statements come and go where a program makes up places in the source as it runs.
constexpr std::size_t kMostCallsites = 1024;

struct Callsites {
  std::mutex mutex;
  std::unordered_map<std::string, RuntimeCallsite> by_statement;  // guarded by mutex
};

Callsites& callsites() {
  static NeverDestroyed<Callsites> all;
  return *all;
}

std::string key_of(Statement const& statement) {
  std::string key(statement.logger);
  key.push_back('\0');
  key.push_back(static_cast<char>(statement.level));
  if (statement.file != nullptr) key.append(statement.file).append(":").append(std::to_string(statement.line));
  return key;
}

RuntimeCallsite make_callsite(Statement const& statement) {
  CallsiteDescription description{.target = statement.logger, .level = statement.level, .fields = {"message"}};
  if (description.target.empty()) description.target = "spdlog";
  if (statement.file != nullptr) {
    description.file = statement.file;
    if (statement.line > 0) description.line = static_cast<std::uint32_t>(statement.line);
  }
  if (statement.function != nullptr) description.function = statement.function;
  return RuntimeCallsite(description);
}

}  // namespace

Statement::Statement(spdlog::details::log_msg const& message) noexcept
    : logger(text_of(message.logger_name)), level(from_spdlog(message.level)) {
  if (message.source.filename == nullptr || message.source.line <= 0) return;
  file = message.source.filename;
  line = message.source.line;
  function = message.source.funcname;
}

RuntimeCallsite callsite_of(Statement const& statement) {
  Callsites& all = callsites();
  std::string key = key_of(statement);
  {
    std::lock_guard const lock(all.mutex);
    auto const found = all.by_statement.find(key);
    if (found != all.by_statement.end()) return found->second;
  }
  // Made and forgotten without the lock: nothing else is taken under it, whatever order a fork takes all locks in.
  RuntimeCallsite const made = make_callsite(statement);
  std::unordered_map<std::string, RuntimeCallsite> forgotten;
  std::lock_guard const lock(all.mutex);
  if (all.by_statement.size() >= kMostCallsites) all.by_statement.swap(forgotten);
  return all.by_statement.try_emplace(std::move(key), made).first->second;
}

Verdict emit(Callsite& callsite, spdlog::details::log_msg const& message) noexcept {
  Verdict const verdict = callsite.enabled();
  if (verdict == 0 || tracing::internal::thread_state.in_subscriber) return 0;
  Value const text = Value::of_verbatim(text_of(message.payload));
  auto const time = std::chrono::duration_cast<std::chrono::nanoseconds>(message.time.time_since_epoch());
  tracing::internal::dispatch_event_at(callsite, verdict, &text, {}, Origin{.time = Instant{time.count()}});
  return verdict;
}

int wanted_level(std::string_view logger_name) {
  for (Level const level : {Level::trace, Level::debug, Level::info, Level::warn, Level::error}) {
    RuntimeCallsite const callsite = make_callsite({logger_name, level});  // for now: nothing was logged there yet
    callsite.callsite().enabled();
    if (callsite.callsite().interest() != Interest::never) return to_spdlog(level);
  }
  return spdlog::level::off;
}

void lock_callsites() noexcept { callsites().mutex.lock(); }
void unlock_callsites() noexcept { callsites().mutex.unlock(); }

}  // namespace tracing::inline v1::bridge::internal
