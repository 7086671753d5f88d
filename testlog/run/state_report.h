// StateReport: writes what the threads of the process are doing, where nothing may lock or allocate.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "testlog/report/report_parts.h"
#include "testlog/run/code_places.h"
#include "testlog/run/crash_line.h"
#include "testlog/run/stack_trace.h"
#include "testlog/run/thread_probe.h"

namespace testlog { inline namespace v1 {

/// The reason for a report, and what the process has been doing for how long.
struct HangInfo {
  std::string_view cause{};   ///< such as `SIGTERM`
  std::string_view before{};  ///< such as `the set-up of suite `
  std::string_view name{};    ///< of a test or a suite; may be empty
  std::uint64_t duration_ns = 0;
  std::uint64_t begin_ticks = 0;     ///< when it began to do so
  std::uint64_t since_ticks = 0;     ///< earlier records are not printed
  long tests_thread = 0;             ///< the system's number of the thread that runs the tests
  long watching_thread = 0;          ///< the number of our own thread, which is not reported; zero without it
  std::uint64_t max_wait_ns = 0;     ///< for the lines of the source; zero: finds no lines
  void* context = nullptr;           ///< of the signal that the calling thread handles; null if there is none
  std::string_view option_to_ask{};  ///< of kill(1), to ask for a report; empty if no signal asks for it
};

struct RecordsOfThread;

/// A stack, and what is known about it.
struct StackOfReport {
  std::span<std::uintptr_t const> addresses{};  ///< see StackTrace::addresses()
  std::size_t first_guess = StackTrace::kNoGuess;
  bool begins_outside_of_code = false;
  bool has_unknown_registers = false;  ///< so guesses do not mean that the stack is damaged
};

/// Returns the names of the places on stacks, which all reports share. Used between take_turn() and end_turn().
CodePlaces& code_places() noexcept;

/// Writes one report at a time, on any thread. Composes lines in memory of its own and cuts what does not fit.
/// Async-signal-safe, except prepare().
class StateReport {
 public:
  constexpr StateReport() noexcept = default;
  StateReport(StateReport const&) = delete;
  StateReport& operator=(StateReport const&) = delete;

  static StateReport& get() noexcept;

  /// Called before any report; only the first call counts. Takes memory; if it gets none, records are not reported.
  /// `parts` must live as long as the process.
  void prepare(ReportParts const& parts) noexcept;

  /// Called before a report. Waits up to ten seconds for the report of another thread. Returns false if no report may
  /// be written: the calling thread is writing a report, which caused a signal, or the last report was written.
  bool take_turn() noexcept;
  /// Called after a report. `last`: the process dies, so no other report may follow.
  void end_turn(bool last = false) noexcept;

  /// Called when a signal ends the program on this thread. Writes the open spans of this thread and of others, records
  /// not shown yet, and the stack of this thread. `info` and `context` are the arguments of the handler. They are null
  /// without a signal; then the stack is left out.
  void write_crash(std::string_view signal, siginfo_t const* info, void* context) noexcept;
  /// Called when, say, a sanitizer reports an error and the process goes on. Writes the spans that threads are in.
  void write_spans(std::string_view reporter) noexcept;
  /// Writes, for each thread of the process, its state, its open spans, when they began, its stack and its last
  /// records; then what add_section() added.
  void write_hang(HangInfo const& info) noexcept;

  /// Writes a line that says for how long the process has run, how to ask for write_hang(), and where the recording is.
  void write_long_test(HangInfo const& info) noexcept;

  /// Called when the process is about to end. Notes `cause` in the recording, and prints how many equal lines were left
  /// out.
  void note_end(std::string_view cause) noexcept;

  /// Adds lines to write_hang(). `write` must be async-signal-safe, and must skip data that would make it wait.
  using Section = void (*)(CrashLine& line, Output& output) noexcept;
  void add_section(Section write) noexcept { section_ = write; }

 private:
  void write_line() noexcept { line_.write_to(parts_->output); }
  int write_open_spans(long died, bool of_died) noexcept;
  void add_own_thread(long os_thread) noexcept;
  void write_all_open_spans() noexcept;
  bool next_unreported() noexcept;
  void write_unreported() noexcept;
  void write_record() noexcept;
  void write_perturbation() noexcept;
  void write_path_of_recording() noexcept;
  void add_running_test() noexcept;
  void write_stack_of_crash(void* context) noexcept;
  void write_cause(siginfo_t const& info, void const* context) noexcept;
  void write_stack(StackOfReport const& stack, std::size_t max_lines) noexcept;
  void write_damage() noexcept;
  void write_thread(std::size_t index, std::uint64_t since_ticks) noexcept;
  void write_ended_thread(RecordsOfThread const& records, std::uint64_t since_ticks) noexcept;
  void find_records(std::uint64_t begin_ticks) noexcept;
  void add_state(ProcThreadState const& state) noexcept;
  void add_system_name(long thread) noexcept;
  void write_stack_of(std::size_t index) noexcept;
  void write_spans_of_thread() noexcept;
  void write_last_records(RecordsOfThread const& records, std::uint64_t since_ticks) noexcept;
  void add_path(std::size_t after) noexcept;
  void add_owner() noexcept;
  void add_labels() noexcept;

  std::atomic<std::uint64_t> writer_{0};  // process and thread
  ReportParts const* parts_ = nullptr;    // set by prepare()
  CrashLine line_;
  CrashReader* reader_ = nullptr;
  Section section_ = nullptr;
};

}}  // namespace testlog::v1
