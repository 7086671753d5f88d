#include "tracing_core/internal/thread_info.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "tracing_core/internal/fork.h"
#include "tracing_core/internal/scoped_no_cancellation.h"
#include "tracing_core/internal/utf8.h"

namespace tracing::inline v1::internal {
namespace {

constinit std::atomic<std::uint64_t> last_number{0};

struct OwnInfo {
  ThreadInfo info{};
  char name[64] = {};
};
constinit thread_local OwnInfo own;

// An unnamed thread has the name of the process. The main thread is called "main", as in Rust.
void read_name(OwnInfo& out) noexcept {
  ScopedNoCancellation const no_cancellation;  // fopen(3) is a cancellation point
  if (out.info.os_thread == getpid()) {
    std::strcpy(out.name, "main");
  } else {
    char process[32] = {};
    pthread_getname_np(pthread_self(), out.name, sizeof(out.name));
    if (std::FILE* const file = std::fopen("/proc/self/comm", "re")) {
      if (std::fgets(process, sizeof(process), file) == nullptr) process[0] = '\0';
      std::fclose(file);
    }
    process[std::strcspn(process, "\n")] = '\0';
    if (std::strcmp(out.name, process) == 0) out.name[0] = '\0';
  }
  out.info.name = out.name;
}

// The thread that forked has another system id in the child.
void update_os_thread() noexcept {
  if (own.info.number != 0) own.info.os_thread = static_cast<std::int64_t>(syscall(SYS_gettid));
}

[[gnu::constructor]] void register_fork_handler() noexcept {
  set_fork_handler(ForkStage::thread_info, {nullptr, nullptr, update_os_thread});
}

}  // namespace

ThreadInfo const& this_thread_info() noexcept {
  if (own.info.number == 0) {
    own.info.os_thread = static_cast<std::int64_t>(syscall(SYS_gettid));
    own.info.number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
    read_name(own);
  }
  return own.info;
}

void name_this_thread(std::string_view name) noexcept {
  this_thread_info();
  std::size_t const size = char_start(name, std::min(name.size(), sizeof(own.name) - 1));
  name.copy(own.name, size);
  own.name[size] = '\0';
  own.info.name = {own.name, size};
}

}  // namespace tracing::inline v1::internal
