// set_thread_name(): sets the name of the calling thread in records.
#pragma once

#include <string_view>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// Names the calling thread in records. Has no effect on registries that the thread has used already, so call it first
/// on a new thread. An empty name removes the name. Without this call, records have the system's name, which has at
/// most 15 bytes; a name set here is cut after 63 bytes. If an earlier thread of the process was given this name, all
/// outputs add the thread's number, as in `worker 3`; after 4,096 different names they always add it. Also sets the
/// system's name, which debuggers show, to the first 15 bytes of `name`, except on the main thread, where this would
/// rename the process. Assigns the thread its number, if it has none yet.
void set_thread_name(std::string_view name) noexcept;

}}  // namespace tracing::v1
