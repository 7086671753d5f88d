// Declares periods of throwing, by which one exception is told from another that was thrown later.
#pragma once

#include <cstdint>

namespace testlog::inline v1::internal {

/// Begins a period, for all threads: exceptions thrown from now on belong to it or to a later one. Returns its number, which
/// is greater than all before. Takes about 50 ns. Thread-safe.
std::uint64_t begin_throw_period() noexcept;

/// The period in which the exception was thrown that this thread handles (std::current_exception()); zero where there is
/// none, where it is older than all periods, and where the C++ library keeps no such note. Right as long as fewer than 64
/// periods have begun since then.
std::uint64_t throw_period_of_handled() noexcept;

/// Around a fork, so that the child finds the lock free.
void lock_throw_periods_for_fork() noexcept;
void unlock_throw_periods_after_fork() noexcept;

}  // namespace testlog::inline v1::internal
