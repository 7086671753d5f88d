// Declares what is known of the calling thread: its number, its name, what the system calls it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracing::inline v1::internal {

struct ThreadInfo {
  std::uint64_t number;   ///< from 1, in the order in which threads first asked; the thread that runs main() is usually 1
  std::int64_t os_thread;  ///< what the system calls it
  std::string_view name;  ///< "main" for the first thread, else what the thread was named by its program; empty where not
};

/// The calling thread. The name is read once, when the thread first asks. Valid until the thread ends.
ThreadInfo const& this_thread_info() noexcept;

/// Gives the calling thread another name than the one it has; cut to 63 bytes at the end of a character.
void name_this_thread(std::string_view name) noexcept;

}  // namespace tracing::inline v1::internal
