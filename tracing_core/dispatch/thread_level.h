// The thread level check: for one filter of the process, callsites compare two levels instead of calling the filter.
//
// EnvFilter with span directives lets everything up to a level pass, and this level changes as the thread enters and
// leaves spans. Such a filter can keep the level in the dispatcher's thread state. If only this filter is undecided
// about a callsite, the callsite compares its own level with the thread's. The first such filter owns the check until
// it is destroyed; other filters are called.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 { namespace internal {

// The number of the filter that owns the check; zero if no filter does.
[[gnu::visibility("hidden")]] extern constinit std::atomic<std::uint64_t> thread_level_owner;

/// Makes filter `number` the owner. Numbers are not zero and are never reused. Returns false if another filter is the
/// owner.
bool claim_thread_level(std::uint64_t number) noexcept;
/// Ends the ownership of filter `number`, if it is the owner.
void release_thread_level(std::uint64_t number) noexcept;
/// Sets the level up to which filter `number` lets records of this thread pass. Does nothing if it is not the owner.
void set_thread_level(std::uint64_t number, LevelFilter level) noexcept;

}}}  // namespace tracing::v1::internal
