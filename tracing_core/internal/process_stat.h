// What the system says of processes and threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracing::inline v1::internal {

/// A line of /proc, see proc(5).
struct ProcessStat {
  char name[16] = {};       ///< of the program, at most 15 bytes
  std::int64_t parent = 0;  ///< the process that started it; 0: not known here
  std::uint64_t start = 0;  ///< in clock ticks, mostly 10 ms, since the machine was booted
};

/// That of a process by its number. None if there is no such process, or the system does not say. A few system calls; never
/// allocates.
std::optional<ProcessStat> stat_of_process(std::int64_t process) noexcept;
/// That of the calling thread.
std::optional<ProcessStat> stat_of_this_thread() noexcept;

/// Now, in the same clock ticks since the machine was booted.
std::uint64_t clock_ticks_now() noexcept;
/// The length of a clock tick.
std::int64_t ns_per_clock_tick() noexcept;

/// The number of the last process or thread that was started in this container. 0 if the system does not say.
std::int64_t last_started_task() noexcept;

}  // namespace tracing::inline v1::internal
