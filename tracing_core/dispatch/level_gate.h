// Declares the level gate, by which one filter of the process decides about records without being asked.
//
// A filter that lets pass, on each thread, everything up to a level which changes as the thread enters and leaves spans can
// keep that level in the dispatcher's own thread state. Callsites about which only that filter is undecided then compare two
// levels. The first such filter holds the gate until it is gone; others are asked as ever.
#pragma once

#include <cstdint>

#include "tracing_core/model/level.h"

namespace tracing::inline v1::internal {

/// Takes the gate for the filter `number`, which is not zero and never used twice. False where another one holds it.
bool claim_level_gate(std::uint64_t number) noexcept;
/// Gives it back, if `number` holds it.
void release_level_gate(std::uint64_t number) noexcept;
/// From now on the filter `number` lets records up to `level` pass on this thread. Nothing where it does not hold the gate.
void set_gate_level(std::uint64_t number, LevelFilter level) noexcept;

}  // namespace tracing::inline v1::internal
