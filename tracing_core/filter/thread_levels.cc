#include "tracing_core/filter/thread_levels.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "tracing_core/dispatch/thread_level.h"

namespace tracing { inline namespace v1 { namespace internal {

// One filter's levels on one thread. No level is less verbose than the level below it, so the last one is the most
// verbose.
struct LevelStack {
  std::uint64_t filter;
  std::weak_ptr<std::uint64_t const> owner;
  std::vector<LevelFilter> levels;
  std::size_t lost = 0;  // number of further levels, from the first one for which there was no memory
};

namespace {

// A thread's stacks. Freed when the thread ends. Levels pushed by later destructors are ignored.
constinit thread_local std::vector<LevelStack>* stacks = nullptr;
constinit thread_local bool ended = false;

struct FreeStacks {
  ~FreeStacks() {
    delete stacks;
    stacks = nullptr;
    ended = true;
    recent_levels = {};
  }
};

LevelStack* find(std::uint64_t filter) noexcept {
  if (stacks == nullptr) return nullptr;
  auto const found =
      std::find_if(stacks->begin(), stacks->end(), [filter](LevelStack const& s) { return s.filter == filter; });
  return found == stacks->end() ? nullptr : &*found;
}

// Returns null if memory runs out.
LevelStack* add(std::uint64_t filter, std::shared_ptr<std::uint64_t const> const& owner) noexcept {
  try {
    if (stacks == nullptr) {
      static thread_local FreeStacks free_stacks;
      static_cast<void>(&free_stacks);
      stacks = new std::vector<LevelStack>();
    }
    std::erase_if(*stacks, [](LevelStack const& stack) { return stack.owner.expired(); });
    return &stacks->emplace_back(LevelStack{filter, owner, {}, 0});
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

// Returns false if memory runs out.
bool append(std::vector<LevelFilter>& levels, LevelFilter level) noexcept {
  try {
    levels.push_back(level);
    return true;
  } catch (std::bad_alloc const&) {
    return false;
  }
}

LevelFilter remember(std::uint64_t filter, LevelFilter level) noexcept {
  recent_levels[filter % kRecentLevels] = {filter, level};
  set_thread_level(filter, level);
  return level;
}

}  // namespace

constinit thread_local std::array<RecentLevel, kRecentLevels> recent_levels{};

ThreadLevelsOwner::ThreadLevelsOwner() {
  static constinit std::atomic<std::uint64_t> last{0};
  number_ = std::shared_ptr<std::uint64_t const>(new std::uint64_t(last.fetch_add(1, std::memory_order_relaxed) + 1),
                                                 [](std::uint64_t const* number) {
                                                   release_thread_level(*number);
                                                   delete number;
                                                 });
}

LevelFilter look_up_level(std::uint64_t filter) noexcept {
  LevelStack const* const stack = find(filter);
  return remember(filter, stack == nullptr || stack->levels.empty() ? LevelFilter::off : stack->levels.back());
}

void push_level(ThreadLevelsOwner const& owner, LevelFilter level) noexcept {
  if (ended) return;
  std::uint64_t const filter = owner.number();
  LevelStack* stack = find(filter);
  if (stack == nullptr) stack = add(filter, owner.number_);
  if (stack == nullptr) return;
  if (!stack->levels.empty()) level = std::max(level, stack->levels.back());
  if (stack->lost > 0 || !append(stack->levels, level)) {
    ++stack->lost;
  } else {
    remember(filter, level);
  }
}

void pop_level(ThreadLevelsOwner const& owner) noexcept {
  std::uint64_t const filter = owner.number();
  LevelStack* const stack = find(filter);
  if (stack == nullptr) return;
  if (stack->lost > 0) {
    --stack->lost;
    return;
  }
  if (stack->levels.empty()) return;
  stack->levels.pop_back();
  remember(filter, stack->levels.empty() ? LevelFilter::off : stack->levels.back());
}

LevelsOfTrack::~LevelsOfTrack() { delete stacks_; }

void LevelsOfTrack::swap() noexcept {
  std::swap(stacks, stacks_);
  recent_levels = {};
}

}}}  // namespace tracing::v1::internal
