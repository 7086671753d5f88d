#include "tracing_core/support/fork.h"

#include <pthread.h>

#include <array>
#include <cstddef>

#include "tracing_core/support/mutex.h"
#include "tracing_core/support/never_destroyed.h"

namespace tracing { inline namespace v1 { namespace support {
namespace {

struct Handlers {
  Mutex mutex;  // held during a fork, so that the handlers that run before it also run after it
  std::array<ForkHandler, kForkStages> stages TRACING_GUARDED_BY(mutex);
};
constinit NeverDestroyed<Handlers> handlers;

void before() noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  handlers->mutex.lock();
  for (ForkHandler const& stage : handlers->stages) {
    if (stage.before != nullptr) stage.before();
  }
}

void after(void (*ForkHandler::*handler)() noexcept) noexcept TRACING_NO_THREAD_SAFETY_ANALYSIS {
  for (std::size_t i = kForkStages; i-- > 0;) {
    if (auto* const run = handlers->stages[i].*handler; run != nullptr) run();
  }
  handlers->mutex.unlock();
}

// Registers when the library is loaded: a registration at first use could itself be interrupted by another thread's
// fork.
[[gnu::constructor]] void register_once() noexcept {
  pthread_atfork([] { before(); }, [] { after(&ForkHandler::in_parent); },
                 [] {
                   forks_in_this_lineage.fetch_add(1, std::memory_order_relaxed);
                   after(&ForkHandler::in_child);
                 });
}

}  // namespace

void set_fork_handler(ForkStage stage, ForkHandler const& handler) noexcept {
  MutexLock const lock(handlers->mutex);
  handlers->stages[static_cast<std::size_t>(stage)] = handler;
}

}}}  // namespace tracing::v1::support
