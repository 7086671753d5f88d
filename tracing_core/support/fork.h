// Handlers around fork(), so that a forked child finds every lock of the library free and its data consistent.
//
// There is one registration with pthread_atfork(), made when the library is loaded, and one handler for each stage.
// Before a fork the stages run first to last; afterwards they run last to first, in the parent and in the child. A
// stage may take its locks while it holds the locks of earlier stages, never of later stages.
#pragma once

#include <atomic>

#include "tracing_core/support/namespaces.h"

namespace tracing { inline namespace v1 { namespace support {

/// The parts of the library that have locks to hold during a fork, in the order in which the locks are taken.
enum class ForkStage : unsigned char {
  statements,   // drops statements in signal handlers until all locks are free again
  session,      // testlog's session, outputs and filters
  perf,         // sums of perf spans
  dispatcher,   // callsites and subscribers
  registries,   // registries that have no owner
  spans,        // open spans and the tracks of threads
  thread_info,  // thread numbers and names
  writes,       // turns of threads that write to pipes
};
inline constexpr unsigned kForkStages = 8;

/// The handlers of one stage. Any of the three may be null.
struct ForkHandler {
  void (*before)() noexcept = nullptr;     ///< takes the stage's locks
  void (*in_parent)() noexcept = nullptr;  ///< releases them
  void (*in_child)() noexcept = nullptr;   ///< releases them, and drops the data of threads that the child lacks
};

/// Sets the handler of a stage for the rest of the process; a later call replaces it. Thread-safe; waits for a fork in
/// progress. Must not be called from a handler.
void set_fork_handler(ForkStage stage, ForkHandler const& handler) noexcept;

inline constinit std::atomic<unsigned> forks_in_this_lineage{0};

/// Returns how many forks led to this process. If a stored count differs from this value, a parent process stored it.
/// Costs one load, where getpid() would be a system call. Async-signal-safe.
inline unsigned fork_count() noexcept { return forks_in_this_lineage.load(std::memory_order_relaxed); }

}}}  // namespace tracing::v1::support
