// ThreadInfo: the number, the name and the system id of the calling thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

struct ThreadInfo {
  std::uint64_t number;    ///< from 1, in the order of the threads' first calls; usually 1 for the main thread
  std::int64_t os_thread;  ///< gettid()
  /// "main" for the first thread; otherwise the name that the program gave the thread, or empty. The thread's number is
  /// added, as in `worker 3`, if an earlier thread of the process was given this name, or once the process has used
  /// 4,096 different names. So no two threads have equal names in any output, unless the program itself names a thread
  /// like this.
  std::string_view name;
};

/// Returns the calling thread's data, valid until the thread ends. The first call reads the thread's name.
ThreadInfo const& this_thread_info() noexcept;

/// Changes the name of the calling thread. Adds the thread's number if an earlier thread was given this name. Cuts a
/// name of more than 63 bytes at the end of a character.
void name_this_thread(std::string_view name) noexcept;

}}}  // namespace tracing::v1::support
