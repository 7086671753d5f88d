// Reports of a process that hangs.
#pragma once

#include <cstdint>
#include <string_view>

#include "testlog/report/report_parts.h"

namespace testlog { inline namespace v1 {

/// The phases in which the process may hang.
enum class Phase : std::uint8_t { before_tests, set_up_of_suite, test, after_test, after_tests };

/// Reports what each thread is doing when a phase takes longer than TRACE_HANG_AFTER, or when the whole process takes
/// longer than TRACE_HANG_AFTER_DEFAULT or TRACE_LONG_AFTER; and again at two, four and eight times as long. Outside
/// CI, TRACE_LONG_AFTER only writes a line, once. Also reports when a signal asks for it: after SIGQUIT and SIGUSR1 the
/// program goes on, and SIGTERM and SIGINT then do what they did before. Leaves SIGQUIT and SIGUSR1 alone if they have
/// handlers, and SIGTERM and SIGINT if they are ignored. Starts a thread only if a time is set. Forked children report
/// nothing. `parts` must live as long as the process. `only_test` is the only test of the process, if it is known.
void watch_for_hangs(ReportParts const& parts, std::string_view only_test);
/// Called again after the program may have set handlers of its own.
void install_hang_handlers() noexcept;

/// Called by the thread that runs the tests when a phase begins. `name` is the name of the test or suite, or empty; it
/// must live as long as the program. Costs a few stores, two readings of clocks and a short system call.
void begin_phase(Phase phase, char const* name) noexcept;

/// Returns true if the last phase has begun.
bool has_ended_tests() noexcept;

}}  // namespace testlog::v1
