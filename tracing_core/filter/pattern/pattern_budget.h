// PatternBudget: limits the memory that the patterns of a filter text may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracing { inline namespace v1 { namespace internal {

/// Limits the memory of patterns, since a filter text may come from anywhere. Counts the most that a pattern may ever
/// take: its program and what matching caches. A pattern that is refused counts, too.
class PatternBudget {
 public:
  static constexpr std::size_t kMaxTextBytes = 4096;          // for one pattern
  static constexpr std::int64_t kMinBytes = 16 * 1024;        // for one pattern
  static constexpr std::int64_t kMaxBytes = 2 * 1024 * 1024;  // for one pattern
  static constexpr std::int64_t kMaxTotalBytes = 4 * kMaxBytes;

  /// Makes the budget for the patterns in `text`, which must outlive this object.
  explicit PatternBudget(std::string_view text) noexcept : text_(text) {}

  /// Returns the memory that a pattern may use even if less would do, since matching is faster with a larger cache.
  /// Half of the total is divided into these shares; the other half is for patterns that need more. Each pattern
  /// follows an equals sign, so these are counted when the first pattern comes.
  std::int64_t share_bytes() noexcept {
    if (share_bytes_ == 0) {
      auto const most = std::max<std::int64_t>(std::count(text_.begin(), text_.end(), '='), 1);
      share_bytes_ = std::clamp(kMaxTotalBytes / 2 / most, kMinBytes, kMaxBytes);
    }
    return share_bytes_;
  }

  std::int64_t left_bytes = kMaxTotalBytes;
  bool exceeded = false;  // the pattern compiled last exceeded the budget

 private:
  std::string_view text_;
  std::int64_t share_bytes_ = 0;
};

}}}  // namespace tracing::v1::internal
