// add_fault_cause(): what the program did that a fatal signal reports.
#pragma once

#include <signal.h>

#include "testlog/crash_line.h"

namespace testlog::inline v1 {

/// Adds such as `write to address 0x10: a null pointer and an offset`, or nothing if the signal says no more than its number. The
/// arguments are those of its handler. Async-signal-safe.
void add_fault_cause(CrashLine& line, siginfo_t const& info, void const* context) noexcept;

}  // namespace testlog::inline v1
