#include "testlog/run/crash.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "testlog/framework.h"
#include "testlog/internal/signal_stack.h"
#include "testlog/run/stack_trace.h"
#include "testlog/run/state_report.h"

namespace testlog { inline namespace v1 {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::string_view kSignalNames[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};

struct Handling {
  ReportParts const* parts = nullptr;
  struct sigaction before[std::size(kSignals)] = {};
};
constinit Handling handling;

std::string_view name_of(int signal) noexcept {
  return kSignalNames[std::find(kSignals, std::end(kSignals), signal) - kSignals];
}

// Restores the earlier handler. A fault happens again after the return; a signal that was sent is sent again.
void pass_on(int signal, siginfo_t const* info) noexcept {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] == signal) sigaction(signal, &handling.before[i], nullptr);
  }
  if (info->si_code <= 0) raise(signal);
}

// Other threads that die meanwhile wait for the report: passing on their signals would end the process.
void report(std::string_view signal, siginfo_t const* info, void* context) noexcept {
  StateReport& report = StateReport::get();
  if (!report.take_turn()) return;
  report.note_end(signal);
  if (!handling.parts->is_mute) report.write_crash(signal, info, context);
  report.end_turn(true);
}

// Everything that it calls is async-signal-safe.
void on_signal(int signal, siginfo_t* info, void* context) {
  int const error_before = errno;
  bool const in_child = framework::current().is_death_test_child();
  if (!in_child) report(name_of(signal), info, context);
  if (handling.parts->files != nullptr && !in_child) handling.parts->files->wait_for_writers();
  pass_on(signal, info);
  errno = error_before;
}

}  // namespace

void report_fatal_signal(std::string_view signal) noexcept {
  if (handling.parts != nullptr && !framework::current().is_death_test_child()) report(signal, nullptr, nullptr);
}

void install_crash_handlers(ReportParts const& parts) {
  if (handling.parts != nullptr) return;
  handling.parts = &parts;
  StateReport::get().prepare(parts);
  StackTrace::prepare();
  ensure_signal_stack();
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &handling.before[i]);
}

}}  // namespace testlog::v1
