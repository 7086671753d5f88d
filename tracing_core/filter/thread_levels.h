// Declares the levels that the spans a thread is in let pass, for each filter that watches spans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tracing_core/model/level.h"

namespace tracing::inline v1::internal {

/// A filter as threads know it: a number never used twice, so that what a thread remembers of one that is gone means
/// nothing to the next one at its address.
class ThreadLevelsOwner {
 public:
  ThreadLevelsOwner();

  std::uint64_t number() const noexcept { return *number_; }

 private:
  friend void push_level(ThreadLevelsOwner const& owner, LevelFilter level) noexcept;
  std::shared_ptr<std::uint64_t const> number_;  // threads drop what they keep when it is gone
};

// What was asked last on this thread, by the filter's number; zero is no filter.
struct RecentLevel {
  std::uint64_t filter = 0;
  LevelFilter level{};
};
inline constexpr std::size_t kRecentLevels = 4;

// Read on every record that a filter has to decide: found by one instruction also from a shared library.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::array<RecentLevel, kRecentLevels> recent_levels;

LevelFilter look_up_level(std::uint64_t filter) noexcept;

/// The most verbose level that was pushed and not yet popped on this thread; off where none.
inline LevelFilter current_level(std::uint64_t filter) noexcept {
  RecentLevel const& recent = recent_levels[filter % kRecentLevels];
  return recent.filter == filter ? recent.level : look_up_level(filter);
}

void push_level(ThreadLevelsOwner const& owner, LevelFilter level) noexcept;
/// Takes back what was pushed last on this thread; nothing where all was.
void pop_level(ThreadLevelsOwner const& owner) noexcept;

}  // namespace tracing::inline v1::internal
