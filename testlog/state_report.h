// StateReport: what the threads of the process are doing, written where nothing may lock or allocate.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "testlog/code_places.h"
#include "testlog/crash_line.h"
#include "testlog/session.h"
#include "testlog/stack_trace.h"
#include "testlog/thread_probe.h"

namespace testlog::inline v1 {

/// Why the state is reported, and for how long the process has been doing what.
struct HangInfo {
  std::string_view cause{};   ///< such as `SIGTERM`
  std::string_view before{};  ///< such as `the set-up of suite `
  std::string_view name{};    ///< of a test or a suite; may be empty
  std::uint64_t duration_ns = 0;
  std::uint64_t begin_ticks = 0;  ///< when that began
  std::uint64_t since_ticks = 0;  ///< records before are not printed
  long tests_thread = 0;          ///< the system's number of the thread that runs the tests
  long watching_thread = 0;       ///< that of a thread of ours, which is not reported; zero if there is none
  std::uint64_t max_wait_ns = 0;  ///< for the lines of the source; zero: without them
  void* context = nullptr;        ///< of the signal that the calling thread handles; null if there is none
  std::string_view option_to_ask{};  ///< of kill(1), to ask for a report; empty if no signal does
};

struct RecordsOfThread;

/// A stack, and what is known of it.
struct StackOfReport {
  std::span<std::uintptr_t const> addresses{};  ///< as those of StackTrace
  std::size_t first_guess = StackTrace::kNoGuess;
  bool begins_outside_of_code = false;
  bool has_unknown_registers = false;  ///< and so may have guesses without being damaged
};

/// What stacks are named by, shared by all reports. Used between take_turn() and end_turn().
CodePlaces& code_places() noexcept;

/// Writes one report at a time, on any thread, with lines that are composed in memory of its own. What does not fit is
/// cut. Async-signal-safe, but for prepare().
class StateReport {
 public:
  constexpr StateReport() noexcept = default;
  StateReport(StateReport const&) = delete;
  StateReport& operator=(StateReport const&) = delete;

  static StateReport& get() noexcept;

  /// Takes memory once; without it, or if there is none, records are not reported.
  void prepare() noexcept;

  /// Before a report. Waits up to ten seconds for that of another thread. False if none may be written: the calling thread
  /// is writing one, which caused a signal, or the last one was.
  bool take_turn() noexcept;
  /// After it. `last`: the process dies, so no other report may follow.
  void end_turn(bool last = false) noexcept;

  /// A signal ends the program on this thread: its open spans and those of others, records not shown yet, its stack.
  /// `info` and `context` are the arguments of the handler; null if there is no signal and so no stack.
  void write_crash(Session& session, std::string_view signal, siginfo_t const* info, void* context) noexcept;
  /// Something else reports an error, after which the process goes on: the spans that threads are in.
  void write_spans(Session& session, std::string_view reporter) noexcept;
  /// For each thread of the process its state, its open spans, when they began, its stack and its last records; then what
  /// add_section() added.
  void write_hang(Session& session, HangInfo const& info) noexcept;

  /// A line that says for how long the process runs, how to ask for write_hang(), and where the recording is.
  void write_long_test(Session& session, HangInfo const& info) noexcept;

  /// Adds lines to write_hang(). `write` must be async-signal-safe and skip what it would have to wait for.
  using Section = void (*)(CrashLine& line, Output& output) noexcept;
  void add_section(Section write) noexcept { section_ = write; }

 private:
  int write_open_spans(Session& session, long died, bool of_died) noexcept;
  void add_own_thread(Session& session, long os_thread) noexcept;
  void write_all_open_spans(Session& session) noexcept;
  bool next_unreported(Session& session) noexcept;
  void write_unreported(Session& session) noexcept;
  void write_record(Session& session) noexcept;
  void write_path_of_recording(Session& session) noexcept;
  void add_running_test(Session& session) noexcept;
  void write_stack_of_crash(Session& session, void* context) noexcept;
  void write_cause(Session& session, siginfo_t const& info, void const* context) noexcept;
  void write_stack(Session& session, StackOfReport const& stack, std::size_t max_lines) noexcept;
  void write_damage(Session& session) noexcept;
  void write_thread(Session& session, std::size_t index, std::uint64_t since_ticks) noexcept;
  void write_ended_thread(Session& session, RecordsOfThread const& records, std::uint64_t since_ticks) noexcept;
  void find_records(Session& session, std::uint64_t begin_ticks) noexcept;
  void add_state(ThreadState const& state) noexcept;
  void add_system_name(long thread) noexcept;
  void write_stack_of(Session& session, std::size_t index) noexcept;
  void write_spans_of_thread(Session& session) noexcept;
  void write_last_records(Session& session, RecordsOfThread const& records, std::uint64_t since_ticks) noexcept;
  void add_path(std::size_t after) noexcept;
  void add_owner(Attribution const& attribution) noexcept;
  void add_labels(Session& session) noexcept;

  std::atomic<std::uint64_t> writer_{0};  // process and thread
  CrashLine line_;
  DyingReader* reader_ = nullptr;
  Section section_ = nullptr;
};

}  // namespace testlog::inline v1
