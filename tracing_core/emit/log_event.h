// log_event(): an event whose level, target and place are known only at run time, for the callback of another logger.
//
// Not part of tracing.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/dispatch/subscriber.h"
#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 {

#if defined(TRACING_DISABLED)
inline namespace disabled {

inline void log_event(Level, std::string_view, std::string_view, char const* = nullptr, int = 0) noexcept {}

}  // namespace disabled
#else

/// Emits an event with this message in the current span of the thread. For the callback of another logger:
///
///     void on_line(int level, char const* text) { tracing::log_event(level_of(level), "net", text); }
///
/// `target` is the name by which filters know the logger. `file` and `line` are the place where the program logged;
/// null and 0 if the logger does not report it. All texts are copied. Drops the event if memory runs out, and if a
/// layer logs it.
///
/// Thread-safe; not for signal handlers. Each combination of level, target and place has a callsite. An event that no
/// filter wants costs a search in a table without a lock. The table has room for about 2000 callsites; every event
/// beyond them costs making a callsite.
void log_event(Level level, std::string_view target, std::string_view message, char const* file = nullptr,
               int line = 0) noexcept;

#endif

namespace internal {

// The constant parts of the events of one logging statement.
struct LogStatement {
  std::string_view target;
  Level level;
  std::string_view file{};  // empty if not known
  std::uint32_t line = 0;
  char const* function = nullptr;
};

void emit_logged(LogStatement const& statement, std::string_view message, Origin const& origin) noexcept;

}  // namespace internal
}}  // namespace tracing::v1
