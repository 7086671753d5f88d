// running_test(): the test that the process is running, for reports of libraries that do not know GoogleTest.
#pragma once

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// Sets the name, such as `Pool.Grows`, or null when the test ends. The text must stay valid until the process ends.
/// testlog calls it. Thread-safe, as is running_test().
void set_running_test(char const* name) noexcept;

/// Returns null if no test is running, or if the program does not link testlog.
char const* running_test() noexcept;

}}}  // namespace tracing::v1::support
