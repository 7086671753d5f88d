#include "tracing_core/support/process_stat.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

namespace tracing { inline namespace v1 { namespace support {
namespace {

using Line = std::array<char, 512>;

// Returns the beginning of a small file; empty if it cannot be read. Avoids the functions of the C library: they are
// cancellation points, and ThreadSanitizer would take them for an order between threads, which would hide races of the
// program.
std::string_view read_line(char const* path, Line& line) noexcept {
  int const saved = errno;
  long size = -1;
  if (auto const file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)); file >= 0) {
    size = syscall(SYS_read, file, line.data(), line.size());
    syscall(SYS_close, file);
  }
  errno = saved;
  return {line.data(), static_cast<std::size_t>(std::max(size, 0L))};
}

// Reads the field after `skipped` other fields. Blanks separate fields.
template <class T>
bool field_after(std::string_view line, int skipped, T& value) noexcept {
  for (; skipped > 0; --skipped) {
    std::size_t const blank = line.find(' ');
    if (blank == line.npos) return false;
    line.remove_prefix(blank + 1);
  }
  return std::from_chars(line.data(), line.data() + line.size(), value).ec == std::errc();
}

// Parses `12 (a name) S 11 ...`, where the name may contain anything.
std::optional<ProcessStat> parsed(std::string_view line) noexcept {
  std::size_t const begin = line.find('('), end = line.rfind(')');
  if (begin == line.npos || end == line.npos || end < begin || end + 2 > line.size()) return std::nullopt;
  ProcessStat found;
  line.substr(begin + 1, std::min(end - begin - 1, sizeof(found.name) - 1)).copy(found.name, sizeof(found.name) - 1);
  std::string_view const rest = line.substr(end + 2);
  constexpr int kParent = 1, kStart = 19;  // counted after the state
  if (!field_after(rest, kParent, found.parent) || !field_after(rest, kStart, found.start)) return std::nullopt;
  return found;
}

}  // namespace

std::optional<ProcessStat> stat_of_process(std::int64_t process) noexcept {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%lld/stat", static_cast<long long>(process));
  Line line{};
  return parsed(read_line(path, line));
}

std::optional<ProcessStat> stat_of_this_thread() noexcept {
  Line line{};
  return parsed(read_line("/proc/thread-self/stat", line));
}

std::int64_t ns_per_clock_tick() noexcept {
  return 1'000'000'000 / std::max(sysconf(_SC_CLK_TCK), 1L);  // makes no system call
}

std::uint64_t clock_ticks_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>((now.tv_sec * 1'000'000'000 + now.tv_nsec) / ns_per_clock_tick());
}

// The line is like `0.20 0.18 0.12 1/80 11206`.
std::int64_t last_started_task() noexcept {
  Line line{};
  std::int64_t task = 0;
  return field_after(read_line("/proc/loadavg", line), 4, task) ? task : 0;
}

}}}  // namespace tracing::v1::support
