// The thread level check: for one filter of the process, callsites compare two levels instead of calling the filter.
//
// EnvFilter with span directives lets everything up to a level pass, and this level changes as the thread enters and
// leaves spans. Such a filter can keep the level in the dispatcher's thread state. Callsites that only this filter is
// undecided about then compare their level with it. The first such filter owns the check until it is destroyed; all
// others are called.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracing_core/model/level.h"

namespace tracing::inline v1::internal {

// The number of the filter that owns the check; zero: none.
[[gnu::visibility("hidden")]] extern constinit std::atomic<std::uint64_t> thread_level_owner;

/// Makes filter `number` the owner. Numbers are not zero and never reused. False if another filter is the owner.
bool claim_thread_level(std::uint64_t number) noexcept;
/// Ends the ownership of filter `number`, if it has it.
void release_thread_level(std::uint64_t number) noexcept;
/// Sets up to which level filter `number` lets records of this thread pass. Does nothing if it is not the owner.
void set_thread_level(std::uint64_t number, LevelFilter level) noexcept;

}  // namespace tracing::inline v1::internal
