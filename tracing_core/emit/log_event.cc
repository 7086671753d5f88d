#include "tracing_core/emit/log_event.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "tracing_core/dispatch/dispatch.h"
#include "tracing_core/dispatch/runtime_callsite.h"
#include "tracing_core/dispatch/thread_state.h"

namespace tracing { inline namespace v1 {
namespace internal {
namespace {

std::size_t hash_of(LogStatement const& statement) noexcept {
  std::hash<std::string_view> const hash_text;
  return hash_text(statement.target) + 31 * hash_text(statement.file) + 1021 * statement.line +
         static_cast<std::size_t>(statement.level);
}

bool is_of(LogStatement const& statement, Metadata const& metadata) noexcept {
  return metadata.level() == statement.level && metadata.line() == statement.line &&
         metadata.target() == statement.target && metadata.file() == statement.file;
}

RuntimeCallsite make_callsite(LogStatement const& statement) {
  CallsiteDescription description{
      .target = statement.target, .level = statement.level, .fields = {"message"}, .file = statement.file};
  if (statement.line > 0) description.line = statement.line;
  if (statement.function != nullptr) description.function = statement.function;
  return RuntimeCallsite(description);
}

// The callsites of statements that have logged, in a hash table to which entries are only added, so that reading takes
// no lock. A program that makes up names or places at run time fills the table; each later message then gets its own
// callsite.
constexpr std::size_t kSlots = 2048;
constexpr std::size_t kMaxProbes = 16;
constinit std::atomic<RuntimeCallsite const*> callsites[kSlots];

// Returns null if every slot for this statement is taken by another statement.
RuntimeCallsite const* find_or_add(LogStatement const& statement) {
  std::size_t const hash = hash_of(statement);
  std::unique_ptr<RuntimeCallsite> made;
  for (std::size_t i = 0; i < kMaxProbes; ++i) {
    auto& slot = callsites[(hash + i) % kSlots];
    RuntimeCallsite const* found = slot.load(std::memory_order_acquire);
    if (found == nullptr) {
      if (made == nullptr) made = std::make_unique<RuntimeCallsite>(make_callsite(statement));
      if (slot.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) return made.release();
    }
    if (is_of(statement, found->metadata())) return found;
  }
  return nullptr;
}

void emit_at(Callsite& callsite, std::string_view message, Origin const& origin) noexcept {
  LayerMask const mask = callsite.enabled();
  if (mask == 0) return;
  Value const text = Value::of_verbatim(message);
  dispatch_event_at(callsite, mask, &text, {}, origin);
}

}  // namespace

void emit_logged(LogStatement const& statement, std::string_view message, Origin const& origin) noexcept {
  if (thread_state.in_subscriber) return;  // the subscriber may hold the locks that a new callsite takes
  try {
    if (RuntimeCallsite const* const kept = find_or_add(statement)) return emit_at(kept->callsite(), message, origin);
    emit_at(make_callsite(statement).callsite(), message, origin);
  } catch (...) {  // out of memory
  }
}

}  // namespace internal

#if !defined(TRACING_DISABLED)
void log_event(Level level, std::string_view target, std::string_view message, char const* file, int line) noexcept {
  internal::LogStatement statement{.target = target, .level = level};
  if (file != nullptr) {
    statement.file = file;
    if (line > 0) statement.line = static_cast<std::uint32_t>(line);
  }
  internal::emit_logged(statement, message, {});
}
#endif

}}  // namespace tracing::v1
