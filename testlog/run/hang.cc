#include "testlog/run/hang.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "testlog/run/state_report.h"
#include "tracing_core/support/monotonic_clock.h"
#include "tracing_core/support/span_clock.h"

namespace testlog { inline namespace v1 {
namespace {

using tracing::support::monotonic_ns;

constexpr int kReportSignals[] = {SIGQUIT, SIGUSR1, SIGTERM, SIGINT};
constexpr std::string_view kReportSignalNames[] = {"SIGQUIT", "SIGUSR1", "SIGTERM", "SIGINT"};
constexpr unsigned kLastMultiple = 8;
constexpr std::uint64_t kMaxWaitNs = 3'000'000'000;  // for the lines of the source

struct Watch {
  ReportParts const* parts = nullptr;
  pid_t process = 0;
  struct sigaction before[std::size(kReportSignals)] = {};
  std::uint64_t start_ns = 0;
  std::atomic<Phase> phase{Phase::before_tests};
  std::atomic<char const*> name{""};
  std::atomic<long> tests_thread{0};
  std::atomic<long> watching_thread{0};
  std::atomic<std::uint64_t> begin_ns{0};
  std::atomic<std::uint64_t> begin_ticks{0};
  std::atomic<std::uint64_t> reported_begin_ns{0};  // the beginning of the phase that was reported last
  std::atomic<std::uint64_t> reported_ticks{0};     // when that report was written
};
constinit Watch watch;

std::string_view before_name(Phase phase) noexcept {
  switch (phase) {
    case Phase::before_tests: return "before the tests";
    case Phase::set_up_of_suite: return "the set-up of suite ";
    case Phase::test: return "";
    case Phase::after_test: return "after ";
    case Phase::after_tests: return "after the tests";
  }
  return {};
}

// Called between take_turn() and end_turn(). `context` is the context of a signal, or null.
void write_report(std::string_view cause, std::uint64_t max_wait_ns, void* context) noexcept {
  std::uint64_t const begin = watch.begin_ns;
  bool const repeats = watch.reported_begin_ns.exchange(begin) == begin;
  std::uint64_t const since = repeats ? watch.reported_ticks.load() : 0;
  watch.reported_ticks = tracing::support::ticks_now();
  std::uint64_t const duration_ns = monotonic_ns() - begin;
  if (RunRecords* const records = watch.parts->run_records; records != nullptr) {
    Attribution const& attribution = watch.parts->attribution;
    // A reader of the recording counts open spans until this mark, too.
    records->still_running(attribution.name_of(attribution.running()), duration_ns / 1'000'000);
  }
  StateReport::get().write_hang({.cause = cause,
                                 .before = before_name(watch.phase),
                                 .name = watch.name.load(),
                                 .duration_ns = duration_ns,
                                 .begin_ticks = watch.begin_ticks,
                                 .since_ticks = since,
                                 .tests_thread = watch.tests_thread,
                                 .watching_thread = watch.watching_thread,
                                 .max_wait_ns = max_wait_ns,
                                 .context = context});
}

// ---- signals ----

bool ends_the_process(int signal) noexcept { return signal == SIGTERM || signal == SIGINT; }

std::size_t index_of(int signal) noexcept {
  return static_cast<std::size_t>(std::find(kReportSignals, std::end(kReportSignals), signal) - kReportSignals);
}

void report_signal(int signal, void* context) noexcept {
  StateReport& report = StateReport::get();
  if (!report.take_turn()) return;
  if (ends_the_process(signal)) report.note_end(kReportSignalNames[index_of(signal)]);
  write_report(kReportSignalNames[index_of(signal)], ends_the_process(signal) ? 0 : kMaxWaitNs,
               context);  // whoever wants the process to end may not wait
  report.end_turn();
}

// Everything that it calls is async-signal-safe.
void on_report_signal(int signal, siginfo_t*, void* context) {
  int const error_before = errno;
  bool const is_child = getpid() != watch.process;
  if (!is_child) report_signal(signal, context);
  if (is_child || ends_the_process(signal)) {
    if (!is_child && watch.parts->files != nullptr) watch.parts->files->wait_for_writers();
    sigaction(signal, &watch.before[index_of(signal)], nullptr);
    raise(signal);  // happens after the return
  }
  errno = error_before;
}

// Returns true if our handler may replace the present handler.
bool is_free(int signal, struct sigaction const& now) noexcept {
  if ((now.sa_flags & SA_SIGINFO) != 0) return ends_the_process(signal) && now.sa_sigaction != on_report_signal;
  return now.sa_handler == SIG_DFL || (ends_the_process(signal) && now.sa_handler != SIG_IGN);
}

// Returns the option of kill(1) that asks for a report; empty if the program handles the signals itself.
std::string_view option_to_ask() noexcept {
  for (auto const& [signal, option] : {std::pair{SIGUSR1, "-USR1"}, std::pair{SIGQUIT, "-QUIT"}}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_sigaction == on_report_signal) return option;
  }
  return {};
}

// ---- time ----

// Called between take_turn() and end_turn().
void write_note() noexcept {
  StateReport::get().write_long_test({.before = before_name(watch.phase),
                                      .name = watch.name.load(),
                                      .duration_ns = monotonic_ns() - watch.start_ns,
                                      .option_to_ask = option_to_ask()});
}

void sleep_until(std::uint64_t ns) noexcept {
  timespec const until{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

struct Interval {
  std::uint64_t ns = 0;     // zero: none
  bool from_start = false;  // counts from the start of the process, as CTest's limit does
  bool is_note = false;     // writes one line about the recording in place of reports
  std::uint64_t max_wait_ns = kMaxWaitNs;
};

// Death tests warn of other threads, so TRACE_LONG_AFTER starts no thread in a process that runs a death test alone.
Interval interval_of(Environment const& environment, std::string_view only_test) noexcept {
  if (environment.hang_after_ns.has_value()) return {.ns = *environment.hang_after_ns};
  // CTest ends the process after 1.25 times `ns`, since TRACE_HANG_AFTER_DEFAULT is 0.8 of TIMEOUT.
  if (std::uint64_t const ns = environment.hang_after_default_ns; ns != 0)
    return {.ns = ns, .from_start = true, .max_wait_ns = std::min(kMaxWaitNs, ns / 8)};
  bool const is_death_test = only_test.find("DeathTest") != only_test.npos;
  return {
      .ns = is_death_test ? 0 : environment.long_after_ns, .from_start = true, .is_note = environment.profile != "ci"};
}

void watch_time(Interval const& interval) noexcept {
  watch.watching_thread = syscall(SYS_gettid);
  std::uint64_t reported_begin_ns = 0;  // the beginning of the phase for which `multiple` counts
  unsigned multiple = 1;
  for (;;) {
    std::uint64_t const begin_ns = watch.begin_ns;
    if (begin_ns != reported_begin_ns && !interval.from_start) multiple = 1;
    reported_begin_ns = begin_ns;
    std::uint64_t const due = (interval.from_start ? watch.start_ns : begin_ns) + interval.ns * multiple;
    if (multiple > kLastMultiple) {
      sleep_until(monotonic_ns() + interval.ns);
    } else if (monotonic_ns() < due) {
      sleep_until(due);
    } else {
      StateReport& report = StateReport::get();
      if (report.take_turn()) {
        interval.is_note ? write_note() : write_report("still running", interval.max_wait_ns, nullptr);
        report.end_turn();
      }
      if (interval.is_note) return void(watch.watching_thread = 0);  // its number may become another thread's
      multiple *= 2;
    }
  }
}

// Blocks all signals in the thread, since signals are for the program's own threads.
void start_thread(Interval const& interval) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([interval] { watch_time(interval); }).detach();
  } catch (std::exception const& error) {
    watch.parts->output.write_note("report",
                                   std::string("testlog: TRACE_HANG_AFTER: no thread: ") + error.what() + "\n");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void watch_for_hangs(ReportParts const& parts, std::string_view only_test) {
  watch.parts = &parts;
  watch.process = getpid();
  watch.start_ns = monotonic_ns();
  watch.begin_ns = watch.start_ns;
  watch.tests_thread = watch.process;
  StateReport::get().prepare(parts);
  StackTrace::prepare();
  install_hang_handlers();
  if (Interval const interval = interval_of(parts.environment, only_test); interval.ns != 0) start_thread(interval);
}

void install_hang_handlers() noexcept {
  if (watch.parts == nullptr) return;
  for (std::size_t i = 0; i < std::size(kReportSignals); ++i) {
    struct sigaction now {};
    if (sigaction(kReportSignals[i], nullptr, &now) != 0 || !is_free(kReportSignals[i], now)) continue;
    watch.before[i] = now;
    struct sigaction action {};
    action.sa_sigaction = on_report_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int const other : kReportSignals) sigaddset(&action.sa_mask, other);  // one report after the other
    sigaction(kReportSignals[i], &action, nullptr);
  }
}

void begin_phase(Phase phase, char const* name) noexcept {
  watch.name = name;
  watch.phase = phase;
  watch.tests_thread = syscall(SYS_gettid);
  watch.begin_ticks = tracing::support::ticks_now();
  watch.begin_ns = monotonic_ns();
}

bool has_ended_tests() noexcept { return watch.phase == Phase::after_tests; }

}}  // namespace testlog::v1
