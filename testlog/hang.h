// Reports of a process that does not go on.
#pragma once

#include <cstdint>
#include <string_view>

#include "testlog/session.h"

namespace testlog::inline v1 {

/// What the process is doing.
enum class Phase : std::uint8_t { before_tests, set_up_of_suite, test, after_test, after_tests };

/// Reports what each thread is doing when a phase takes longer than TRACE_HANG_AFTER, and again at two, four and eight times
/// that, or when the process does so since its begin than TRACE_HANG_AFTER_DEFAULT or, outside CI in a line, TRACE_LONG_AFTER; and when a signal asks for it: SIGQUIT and SIGUSR1, after which the program goes on, and SIGTERM and SIGINT, which
/// then do what they did before. SIGQUIT and SIGUSR1 are left alone if they have handlers, SIGTERM and SIGINT if they are
/// ignored. Starts a thread only if a time is set. Forked children report nothing. `only_test`: that of the process,
/// if it is known.
void watch_for_hangs(Session& session, std::string_view only_test);
/// To be called again after the program has set handlers of its own.
void install_hang_handlers() noexcept;

/// A phase begins. `name` is that of the test or suite, or empty; it must live as long as the program. Called by the thread
/// that runs the tests. Costs four stores, a look at the clock and a short system call.
void begin_phase(Phase phase, char const* name) noexcept;

/// Whether the last phase has begun.
bool has_ended_tests() noexcept;

}  // namespace testlog::inline v1
