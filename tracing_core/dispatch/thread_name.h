// Declares set_thread_name(), which says what the calling thread is called in records.
#pragma once

#include <string_view>

namespace tracing::inline v1 {

/// Names the calling thread in the records that follow in registries it has not used yet: call it first thing on the
/// thread. An empty name is none. Unlike the system's own names, which are taken where this is not called, it may be
/// longer than 15 bytes; beyond 63 it is cut. The system, and so debuggers, get to know its beginning, but for the main
/// thread, whose name is the process's. A thread gets its number here, if it has none yet.
void set_thread_name(std::string_view name) noexcept;

}  // namespace tracing::inline v1
