#include "tracing_core/dispatch/thread_name.h"

#include <pthread.h>
#include <unistd.h>

#include "tracing_core/support/thread_info.h"

namespace tracing { inline namespace v1 {

void set_thread_name(std::string_view name) noexcept {
  support::name_this_thread(name);
  support::ThreadInfo const& thread = support::this_thread_info();
  if (thread.os_thread == getpid()) return;
  char beginning[16] = {};  // the system allows 15 bytes and a NUL
  name.copy(beginning, sizeof(beginning) - 1);
  pthread_setname_np(pthread_self(), beginning);
}

}}  // namespace tracing::v1
