#include "tracing_core/support/address_lines.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tracing_core/support/monotonic_clock.h"

namespace tracing { inline namespace v1 { namespace support {
namespace {

constexpr std::size_t kDigits = 24;
constexpr std::size_t kWordsBefore = 4;

// Not on a stack, which may be small. Used by one call at a time.
struct Room {
  char offsets[AddressLines::kMax][kDigits];
  char const* words[kWordsBefore + AddressLines::kMax + 1];
  char answer[256 << 10];
};
constinit Room room{};
constinit char path_of_programs[4096] = "/usr/local/bin:/usr/bin:/bin";

// Marks code that runs in a process that was forked without the knowledge of libc and of sanitizers. It makes only
// system calls.
#define TRACING_UNKNOWN_PROCESS __attribute__((no_sanitize("address", "thread", "undefined")))

// Makes a copy of this process without other threads, as fork(2) does, but without a signal at its end.
TRACING_UNKNOWN_PROCESS long fork_unnoticed() noexcept { return syscall(SYS_clone, 0, 0, 0, 0, 0); }

[[noreturn]] TRACING_UNKNOWN_PROCESS void run_program(int output) noexcept {
  long const nowhere = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
  syscall(SYS_dup3, output, STDOUT_FILENO, 0);
  syscall(SYS_dup3, nowhere, STDIN_FILENO, 0);
  syscall(SYS_dup3, nowhere, STDERR_FILENO, 0);
#ifdef SYS_close_range
  syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
  constexpr unsigned long kDefault[4] = {};
  syscall(SYS_rt_sigaction, SIGALRM, kDefault, nullptr, 8);
  constexpr unsigned long kNone = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kNone, nullptr, 8);
  constexpr itimerval kLimit{{0, 0}, {5, 0}};
  syscall(SYS_setitimer, ITIMER_REAL, &kLimit, nullptr);
  constexpr char const* kNoVariables[] = {nullptr};
  for (std::string_view const name : {"/addr2line", "/llvm-addr2line"}) {
    std::string_view folders = path_of_programs;
    while (!folders.empty()) {
      std::string_view const folder = folders.substr(0, folders.find(':'));
      folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
      char program[1024] = {};
      if (folder.empty() || folder.size() + name.size() >= sizeof(program)) continue;
      name.copy(program + folder.copy(program, folder.size()), name.size());
      syscall(SYS_execve, program, room.words, kNoVariables);
    }
  }
  for (;;) syscall(SYS_exit_group, 127);
}

// Returns the end of a pipe from which the answer can be read; negative on failure.
TRACING_UNKNOWN_PROCESS int start_in_background() noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  long const child = fork_unnoticed();
  if (child == 0) {
    // The program becomes a process that init waits for.
    if (fork_unnoticed() == 0) run_program(ends[1]);
    for (;;) syscall(SYS_exit_group, 0);
  }
  if (child > 0) syscall(SYS_wait4, child, nullptr, __WALL, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  if (child < 0) close(ends[0]);
  return child < 0 ? -1 : ends[0];
}

}  // namespace

void AddressLines::prepare() noexcept {
  char const* const path = secure_getenv("PATH");
  if (path != nullptr && std::strlen(path) < sizeof(path_of_programs)) std::strcpy(path_of_programs, path);
}

void AddressLines::add(std::uint64_t offset) noexcept {
  if (count_ == kMax) return;
  char* const text = room.offsets[count_++];
  *std::to_chars(text + std::string_view("0x").copy(text, 2), text + kDigits - 1, offset, 16).ptr = '\0';
}

// Returns the place in `/src/load.cc:88 (discriminator 2)`; empty for `??:0` and `load.cc:?`.
std::string_view AddressLines::place_of(std::string_view line) noexcept {
  line = line.substr(0, line.find(" (discriminator "));
  bool const is_known = !line.empty() && !line.starts_with("??") && !line.ends_with("?") && !line.ends_with(":0");
  return is_known ? line : std::string_view();
}

std::string_view AddressLines::ask(std::uint64_t deadline_ns) noexcept {
  constexpr char const* kWords[kWordsBefore] = {"addr2line", "-ai", "-e", nullptr};
  std::copy(kWords, std::end(kWords), room.words);
  room.words[kWordsBefore - 1] = file_;
  for (std::size_t i = 0; i < count_; ++i) room.words[kWordsBefore + i] = room.offsets[i];
  room.words[kWordsBefore + count_] = nullptr;
  int const source = start_in_background();
  if (source < 0) return {};
  std::size_t size = 0;
  for (std::uint64_t now; size < sizeof(room.answer) && (now = monotonic_ns()) < deadline_ns;) {
    pollfd ready{source, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>((deadline_ns - now) / 1'000'000 + 1)) <= 0) continue;
    ssize_t const got = read(source, room.answer + size, sizeof(room.answer) - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  close(source);
  return {room.answer, size};
}

}}}  // namespace tracing::v1::support
