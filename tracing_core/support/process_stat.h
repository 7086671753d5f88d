// Reads what /proc says about processes and threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// A line of /proc/<process>/stat, see proc(5).
struct ProcessStat {
  char name[16] = {};       ///< the program's name, at most 15 bytes
  std::int64_t parent = 0;  ///< the process that started this process; 0: none, or not visible here
  std::uint64_t start = 0;  ///< start time: clock ticks, usually of 10 ms, since the machine was booted
};

/// Returns the line of a process, or nothing if the process does not exist or the system does not show it. Makes a few
/// system calls; never allocates.
std::optional<ProcessStat> stat_of_process(std::int64_t process) noexcept;
/// Returns the line of the calling thread.
std::optional<ProcessStat> stat_of_this_thread() noexcept;

/// Returns the current time in clock ticks since the machine was booted.
std::uint64_t clock_ticks_now() noexcept;
/// Returns the length of a clock tick.
std::int64_t ns_per_clock_tick() noexcept;

/// Returns the number of the process or thread that was started last in this container; 0 if the system does not show
/// it.
std::int64_t last_started_task() noexcept;

}}}  // namespace tracing::v1::support
