// set_thread_name(): the name of the calling thread in records.
#pragma once

#include <string_view>

namespace tracing::inline v1 {

/// Names the calling thread in records of registries that it has not used yet, so call it first on a new thread. An
/// empty name means no name. Without this call the system's name is used, which has at most 15 bytes; a name set here
/// may have 63 and is cut after that. Also sets the system's name, which debuggers show, to the first 15 bytes, except
/// on the main thread, where it would rename the process. Assigns the thread its number, if it has none yet.
void set_thread_name(std::string_view name) noexcept;

}  // namespace tracing::inline v1
