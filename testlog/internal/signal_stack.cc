#include "testlog/internal/signal_stack.h"

#include <signal.h>
#include <sys/mman.h>

#include <cstddef>

namespace testlog { inline namespace v1 {
namespace {

constexpr std::size_t kBytes = 64 << 10;

// Frees the stack when the thread ends.
struct SignalStack {
  void* memory = MAP_FAILED;

  SignalStack() = default;
  SignalStack(SignalStack const&) = delete;
  SignalStack& operator=(SignalStack const&) = delete;
  ~SignalStack() {
    if (memory == MAP_FAILED) return;
    stack_t now{};
    bool const is_in_use = sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory;
    stack_t const none{nullptr, SS_DISABLE, 0};
    if (!is_in_use || sigaltstack(&none, nullptr) == 0) munmap(memory, kBytes);
  }
};

}  // namespace

void ensure_signal_stack() noexcept {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  static thread_local SignalStack stack;
  if (stack.memory == MAP_FAILED)
    stack.memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.memory == MAP_FAILED) return;
  stack_t const ours{stack.memory, 0, kBytes};
  sigaltstack(&ours, nullptr);
}

}}  // namespace testlog::v1
