// Keeps the level that the spans of a thread let pass, for each filter that follows spans.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tracing_core/model/level.h"

namespace tracing { inline namespace v1 { namespace internal {

/// Identifies a filter by a number that is never reused. So a thread never takes the levels of a destroyed filter for
/// the levels of another filter at the same address.
class ThreadLevelsOwner {
 public:
  ThreadLevelsOwner();

  std::uint64_t number() const noexcept { return *number_; }

 private:
  friend void push_level(ThreadLevelsOwner const& owner, LevelFilter level) noexcept;
  std::shared_ptr<std::uint64_t const> number_;  // expires with the filter, so that threads drop its levels
};

// The last result on this thread for a filter; the number zero stands for no filter.
struct RecentLevel {
  std::uint64_t filter = 0;
  LevelFilter level{};
};
inline constexpr std::size_t kRecentLevels = 4;

// The last results. They are read for every record that a filter must decide, by one instruction even in a shared
// library.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::array<RecentLevel, kRecentLevels> recent_levels;

LevelFilter look_up_level(std::uint64_t filter) noexcept;

/// Returns the most verbose level that was pushed and not yet popped on this thread; off if there is none.
inline LevelFilter current_level(std::uint64_t filter) noexcept {
  RecentLevel const& recent = recent_levels[filter % kRecentLevels];
  return recent.filter == filter ? recent.level : look_up_level(filter);
}

/// Pushes the level of a span that this thread enters. If memory runs out, drops this level and all levels pushed until
/// it is popped.
void push_level(ThreadLevelsOwner const& owner, LevelFilter level) noexcept;
/// Removes the level that was pushed last on this thread, if there is one.
void pop_level(ThreadLevelsOwner const& owner) noexcept;

struct LevelStack;

/// The levels of a thread that does not run here: records of several threads are replayed on one. Single-thread.
class LevelsOfTrack {
 public:
  LevelsOfTrack() = default;
  LevelsOfTrack(LevelsOfTrack const&) = delete;
  LevelsOfTrack& operator=(LevelsOfTrack const&) = delete;
  ~LevelsOfTrack();

  /// Exchanges these levels with the levels of the calling thread. Call it twice around what the track does.
  void swap() noexcept;

 private:
  std::vector<LevelStack>* stacks_ = nullptr;
};

}}}  // namespace tracing::v1::internal
