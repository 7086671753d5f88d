#include "testlog/run/thread_probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>

#include "tracing_core/support/monotonic_clock.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::support::monotonic_ns;

constexpr int kSignal = SIGURG;
constexpr timespec kStep{0, 100'000};
constexpr std::uint64_t kToAnswerNs = 500'000'000;
constexpr std::uint64_t kMaxTakenNs = 3'000'000'000;
constexpr std::uint64_t kMaxStoppedNs = 5'000'000'000;

// Reads the beginning of /proc/self/task/<thread>/<file> into `room`.
std::string_view read_task_file(long thread, std::string_view file, char* room, std::size_t size) noexcept {
  constexpr std::string_view kFolder = "/proc/self/task/";
  char path[64] = {};
  char* at = path + kFolder.copy(path, sizeof(path));
  at = std::to_chars(at, at + 20, thread).ptr;
  file.copy(at, 16);
  int const opened = open(path, O_RDONLY | O_CLOEXEC);
  if (opened < 0) return {};
  ssize_t const got = read(opened, room, size);
  close(opened);
  return {room, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

struct SystemCall {
  long number;
  std::string_view name;
};
constexpr SystemCall kSystemCalls[] = {
    {SYS_futex, "futex"},
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_readv, "readv"},
    {SYS_writev, "writev"},
    {SYS_pread64, "pread"},
    {SYS_pwrite64, "pwrite"},
    {SYS_openat, "openat"},
    {SYS_close, "close"},
    {SYS_fsync, "fsync"},
    {SYS_flock, "flock"},
    {SYS_fcntl, "fcntl"},
    {SYS_ioctl, "ioctl"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_rt_sigtimedwait, "sigtimedwait"},
    {SYS_rt_sigsuspend, "sigsuspend"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_connect, "connect"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_semtimedop, "semtimedop"},
    {SYS_msgrcv, "msgrcv"},
    {SYS_msgsnd, "msgsnd"},
    {SYS_io_getevents, "io_getevents"},
    {SYS_io_uring_enter, "io_uring_enter"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause"},
    {SYS_open, "open"},
#endif
};

// A request of the thread that follows stacks, to another thread and to itself.
struct Request {
  enum Phase : int { idle, asked, taken, stopped };
  std::atomic<int> phase{idle};
  std::atomic<long> thread{0};  // the thread that is asked
  std::atomic<long> follower{0};
  Registers registers{};  // of the thread that is stopped
  Registers begin{};      // of the stack to follow
  void (*visit)(void* argument, StackTrace const& stack) = nullptr;
  void* argument = nullptr;
};
constinit Request request;

// Runs on the reporting thread, in the handler of its own signal. Walks the stack of another thread, which begins at
// request.begin.
void follow(void* context) noexcept {
  StackTrace const stack(context, request.begin);
  request.visit(request.argument, stack);
}

// Runs on the thread that was asked: waits until its stack has been followed.
void wait_while_followed(void const* context) noexcept {
  int expected = Request::asked;
  if (!request.phase.compare_exchange_strong(expected, Request::taken)) return;
  request.registers = Registers::of(context);
  request.phase = Request::stopped;
  std::uint64_t const end_ns = monotonic_ns() + kMaxStoppedNs;
  while (request.phase == Request::stopped && monotonic_ns() < end_ns) nanosleep(&kStep, nullptr);
  // The stack was followed too slowly, or not at all: another thread can be asked.
  if (monotonic_ns() >= end_ns) request.phase.compare_exchange_strong(expected = Request::stopped, Request::idle);
}

void on_probe_signal(int, siginfo_t*, void* context) {
  int const error_before = errno;
  long const self = syscall(SYS_gettid);
  if (self == request.follower) {
    if (request.visit != nullptr) follow(context);
  } else if (self == request.thread) {
    wait_while_followed(context);
  }
  errno = error_before;
}

}  // namespace

std::size_t list_threads(long* threads, std::size_t max) noexcept {
  int const folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  std::size_t count = 0;
  alignas(dirent64) char bytes[2048];
  for (long size; (size = syscall(SYS_getdents64, folder, bytes, sizeof(bytes))) > 0;) {
    for (long at = 0; at < size;) {
      auto const& entry = *reinterpret_cast<dirent64 const*>(bytes + at);
      at += entry.d_reclen;
      std::string_view const name = entry.d_name;
      long thread = 0;
      if (std::from_chars(name.data(), name.data() + name.size(), thread).ec != std::errc()) continue;
      if (count < max) threads[count] = thread;
      ++count;
    }
  }
  close(folder);
  std::sort(threads, threads + std::min(count, max));
  return count;
}

std::string_view system_name(long thread, char (&room)[32]) noexcept {
  std::string_view const line = read_task_file(thread, "/comm", room, sizeof(room));
  return line.substr(0, line.find('\n'));
}

std::string_view name_of_system_call(long number) noexcept {
  for (SystemCall const& one : kSystemCalls) {
    if (one.number == number) return one.name;
  }
  return {};
}

ProcThreadState ProcThreadState::of(long thread) noexcept {
  ProcThreadState state;
  char room[512];
  std::string_view const stat = read_task_file(thread, "/stat", room, sizeof(room));
  std::size_t const name_end = stat.rfind(')');  // the name may contain any character
  if (name_end != stat.npos && name_end + 2 < stat.size()) state.letter = stat[name_end + 2];
  // The file has `running`, or the system call, its six arguments, the stack pointer and the counter. If the thread
  // waits for something else, it has -1 and these two.
  std::string_view const call = read_task_file(thread, "/syscall", room, sizeof(room));
  if (call.empty() || call.starts_with("running")) {
    char lines[2048];
    std::string_view const status = read_task_file(thread, "/status", lines, sizeof(lines));
    constexpr std::string_view kBlocked = "\nSigBlk:\t";
    std::uint64_t mask = 0;
    if (std::size_t const at = status.find(kBlocked); at != status.npos)
      (void)std::from_chars(status.data() + at + kBlocked.size(), status.data() + status.size(), mask, 16);
    state.blocks_probe = (mask >> (kSignal - 1) & 1) != 0;
    return state;
  }
  (void)std::from_chars(call.data(), call.data() + call.size(), state.system_call);
  std::uintptr_t words[8] = {};
  std::size_t count = 0;
  for (std::size_t at = call.find("0x"); at != call.npos && count < std::size(words); at = call.find("0x", at + 2))
    (void)std::from_chars(call.data() + at + 2, call.data() + call.size(), words[count++], 16);
  if (count < 2) return state;
  state.registers = {words[count - 1], words[count - 2], Registers::kUnknown, Registers::kUnknown};
  std::string_view const times = read_task_file(thread, "/schedstat", room, sizeof(room));
  (void)std::from_chars(times.data(), times.data() + times.size(), state.ran_ns);
  return state;
}

ThreadProbe::ThreadProbe() noexcept : end_ns_(monotonic_ns() + kToAnswerNs) {
  request.follower = syscall(SYS_gettid);
  bool const is_free = sigaction(kSignal, nullptr, &before_) == 0 && (before_.sa_flags & SA_SIGINFO) == 0 &&
                       (before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN);
  if (!is_free) return;
  struct sigaction action {};
  action.sa_sigaction = on_probe_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  is_installed_ = sigaction(kSignal, &action, nullptr) == 0;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, kSignal);
  pthread_sigmask(SIG_UNBLOCK, &signals, &mask_before_);
}

ThreadProbe::~ThreadProbe() {
  request.follower = 0;
  if (!is_installed_) return;
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  struct sigaction now {};
  if (sigaction(kSignal, nullptr, &now) == 0 && now.sa_sigaction == on_probe_signal)
    sigaction(kSignal, &before_, nullptr);
}

// Leaves the registers in the request. Returns false if the thread did not answer, or if a thread that was asked before
// has not answered yet.
bool ThreadProbe::stop(long thread) noexcept {
  request.thread = thread;
  int expected = Request::idle;
  if (!request.phase.compare_exchange_strong(expected, Request::asked)) return false;
  if (syscall(SYS_tgkill, getpid(), thread, kSignal) == 0) {
    do nanosleep(&kStep, nullptr);
    while (request.phase != Request::stopped && monotonic_ns() < end_ns_);
  }
  if (request.phase.compare_exchange_strong(expected = Request::asked, Request::idle)) return false;
  // The thread is running and answers soon, unless it lost its processor.
  for (std::uint64_t const end_ns = monotonic_ns() + kMaxTakenNs;
       request.phase == Request::taken && monotonic_ns() < end_ns;)
    nanosleep(&kStep, nullptr);
  return request.phase == Request::stopped;
}

ThreadProbe::Answer ThreadProbe::visit_stack(long thread, ProcThreadState const& state, Visit visit,
                                             void* argument) noexcept {
  if (!is_installed_) return Answer::is_handled;
  bool const is_waiting = state.registers.counter != 0;
  if (!is_waiting && state.blocks_probe) return Answer::is_blocked;
  if (!is_waiting && !stop(thread)) return Answer::none;
  request.begin = is_waiting ? state.registers : request.registers;
  request.visit = visit;
  request.argument = argument;
  raise(kSignal);  // to itself: the handler's context is what the unwinder begins with
  request.visit = nullptr;
  if (!is_waiting) {
    request.phase = Request::idle;
    return Answer::stack;
  }
  ProcThreadState const now = ProcThreadState::of(thread);
  bool const stayed = now.registers.counter == state.registers.counter &&
                      now.registers.stack == state.registers.stack && now.ran_ns == state.ran_ns;
  return stayed ? Answer::stack : Answer::moved_on;
}

}}  // namespace testlog::v1
