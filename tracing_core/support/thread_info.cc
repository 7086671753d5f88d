#include "tracing_core/support/thread_info.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "tracing_core/support/fork.h"
#include "tracing_core/support/scoped_no_cancellation.h"
#include "tracing_core/support/utf8.h"

namespace tracing { inline namespace v1 { namespace support {
namespace {

constinit std::atomic<std::uint64_t> last_number{0};

constexpr std::string_view kMain = "main";

struct OwnInfo {
  ThreadInfo info{};
  std::uint64_t given = 0;  // the hash of the name that the thread was given
  char name[64] = {};       // the given name, with the thread's number if an earlier thread was given that name
};
constinit thread_local OwnInfo own;

// The names that threads have been given so far, in a table with open addressing.
struct GivenName {
  std::atomic<std::uint64_t> hash{0};
  std::atomic<std::uint64_t> thread{0};  // the number of the first thread; 0 until that thread has stored it
};
constexpr std::size_t kNames = 4096;
constinit GivenName names[kNames]{};

std::uint64_t hash_of_name(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash == 0 ? 1 : hash;
}

// Returns true if no other thread was given the name before. Returns false if the table is full: then numbers tell the
// threads apart.
bool take_name(std::uint64_t hash, std::uint64_t thread) noexcept {
  for (std::size_t i = 0; i < kNames; ++i) {
    GivenName& place = names[(hash + i) % kNames];
    std::uint64_t found = place.hash.load(std::memory_order_relaxed);
    if (found == 0 && place.hash.compare_exchange_strong(found, hash, std::memory_order_relaxed)) {
      place.thread.store(thread, std::memory_order_relaxed);
      return true;
    }
    if (found == hash) return place.thread.load(std::memory_order_relaxed) == thread;
  }
  return false;
}

// Names the thread. REQUIRES: `name` does not point into `out`.
void set_name(OwnInfo& out, std::string_view name) noexcept {
  constexpr std::size_t kMax = sizeof(out.name) - 1;
  name = name.substr(0, char_start(name, std::min(name.size(), kMax)));
  std::uint64_t const hash = hash_of_name(name);
  if (hash == out.given) return;
  out.given = hash;
  bool const is_main = out.info.os_thread == getpid();
  bool const is_taken = name == kMain ? !is_main : !name.empty() && !take_name(hash, out.info.number);
  char number[24] = {};
  if (is_taken) std::snprintf(number, sizeof(number), " %llu", static_cast<unsigned long long>(out.info.number));
  std::string_view const suffix = number;
  std::size_t const size = char_start(name, std::min(name.size(), kMax - suffix.size()));
  name.copy(out.name, size);
  suffix.copy(out.name + size, suffix.size());
  out.name[size + suffix.size()] = '\0';
  out.info.name = {out.name, size + suffix.size()};
}

// Names the thread as the system does. A thread that still has the name of the process counts as unnamed. The main
// thread is called "main", as in Rust.
void read_name(OwnInfo& out) noexcept {
  ScopedNoCancellation const no_cancellation;  // fopen(3) is a cancellation point
  if (out.info.os_thread == getpid()) return set_name(out, kMain);
  char name[32] = {}, process[32] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  if (std::FILE* const file = std::fopen("/proc/self/comm", "re")) {
    if (std::fgets(process, sizeof(process), file) == nullptr) process[0] = '\0';
    std::fclose(file);
  }
  process[std::strcspn(process, "\n")] = '\0';
  set_name(out, std::strcmp(name, process) == 0 ? std::string_view() : name);
}

// Numbers the thread without reading its name.
void number_this_thread() noexcept {
  own.info.os_thread = static_cast<std::int64_t>(syscall(SYS_gettid));
  own.info.number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Updates the system's id: in a forked child the thread has a new one.
void update_os_thread() noexcept {
  if (own.info.number != 0) own.info.os_thread = static_cast<std::int64_t>(syscall(SYS_gettid));
}

[[gnu::constructor]] void register_fork_handler_of_threads() noexcept {
  set_fork_handler(ForkStage::thread_info, {nullptr, nullptr, update_os_thread});
}

}  // namespace

ThreadInfo const& this_thread_info() noexcept {
  if (own.info.number == 0) {
    number_this_thread();
    read_name(own);
  }
  return own.info;
}

// Does not read the system's name first: the thread may have it from the thread that created it.
void name_this_thread(std::string_view name) noexcept {
  if (own.info.number == 0) number_this_thread();
  set_name(own, name);
}

}}}  // namespace tracing::v1::support
