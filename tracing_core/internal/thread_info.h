// ThreadInfo: the number, the name and the system id of the calling thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracing::inline v1::internal {

struct ThreadInfo {
  std::uint64_t number;    ///< from 1, in the order of the threads' first calls; usually 1 for the main thread
  std::int64_t os_thread;  ///< gettid()
  std::string_view name;   ///< "main" for the first thread, else the name that the program gave the thread, or empty
};

/// The calling thread. Its name is read in the first call. Valid until the thread ends.
ThreadInfo const& this_thread_info() noexcept;

/// Changes the name of the calling thread. A name of more than 63 bytes is cut at the end of a character.
void name_this_thread(std::string_view name) noexcept;

}  // namespace tracing::inline v1::internal
