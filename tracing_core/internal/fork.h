// Handlers around fork(), so that a forked child finds every lock of ours free and its data consistent.
//
// There is one registration with pthread_atfork(), made when the library is loaded, and one handler for each stage.
// Before a fork the stages run first to last, afterwards last to first, in the parent as in the child. A stage may take
// locks of its own while it holds those of earlier stages, never the other way round.
#pragma once

#include <atomic>

namespace tracing::inline v1::internal {

/// The parts of the library that have locks to hold during a fork, in the order in which the locks are taken.
enum class ForkStage : unsigned char {
  statements,    // until all locks are free again, statements of handlers of signals are dropped
  session,       // testlog's session, its outputs and its filters
  perf,          // sums of perf spans
  dispatcher,    // callsites and subscribers
  registries,    // registries without owner
  spans,         // open spans, the tracks of threads
  thread_info,   // thread numbers and names
  writes,        // turns of threads that write to pipes
};
inline constexpr unsigned kForkStages = 8;

/// Any of the three may be null.
struct ForkHandler {
  void (*before)() noexcept = nullptr;     ///< takes the locks
  void (*in_parent)() noexcept = nullptr;  ///< releases them
  void (*in_child)() noexcept = nullptr;   ///< releases them, and drops what belonged to threads that the child lacks
};

/// Sets the handler of a stage for the rest of the process; a later call replaces it. Thread-safe; waits for a fork
/// under way. Must not be called from a handler.
void set_fork_handler(ForkStage stage, ForkHandler const& handler) noexcept;

inline constinit std::atomic<unsigned> forks_in_this_lineage{0};

/// How many forks led to this process: a copy that differs from it was made in a parent. A load, where getpid() would
/// be a system call. Async-signal-safe.
inline unsigned fork_count() noexcept { return forks_in_this_lineage.load(std::memory_order_relaxed); }

}  // namespace tracing::inline v1::internal
