// add_fault_cause(): says which access or instruction of the program raised a fatal signal.
#pragma once

#include <signal.h>

#include "testlog/run/crash_line.h"

namespace testlog { inline namespace v1 {

/// Adds a text such as `write to address 0x10: a null pointer and an offset`, or nothing if the signal says no more
/// than its number. `info` and `context` are the arguments of its handler. Async-signal-safe.
void add_fault_cause(CrashLine& line, siginfo_t const& info, void const* context) noexcept;

}}  // namespace testlog::v1
