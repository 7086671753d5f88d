// PatternBudget: how much memory the patterns of a filter text may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracing::inline v1::internal {

/// A filter text may come from anywhere, so its patterns are compiled within limits. What counts is what they may ever
/// take: their programs and what matching caches. A pattern that is refused counts, too.
class PatternBudget {
 public:
  static constexpr std::size_t kMaxTextBytes = 4096;          // of one pattern
  static constexpr std::int64_t kMinBytes = 16 * 1024;        // of one pattern
  static constexpr std::int64_t kMaxBytes = 2 * 1024 * 1024;  // of one pattern
  static constexpr std::int64_t kMaxTotalBytes = 4 * kMaxBytes;

  /// For the patterns of `text`, which must outlive this.
  explicit PatternBudget(std::string_view text) noexcept : text_(text) {}

  /// What a pattern may use even if less would do, since matching is faster with a larger cache. Half of the total is
  /// for those that need more. Each pattern follows an equals sign; these are counted when there is a pattern.
  std::int64_t share_bytes() noexcept {
    if (share_bytes_ == 0) {
      auto const most = std::max<std::int64_t>(std::count(text_.begin(), text_.end(), '='), 1);
      share_bytes_ = std::clamp(kMaxTotalBytes / 2 / most, kMinBytes, kMaxBytes);
    }
    return share_bytes_;
  }

  std::int64_t left_bytes = kMaxTotalBytes;
  bool exceeded = false;  // by the pattern that was compiled last

 private:
  std::string_view text_;
  std::int64_t share_bytes_ = 0;
};

}  // namespace tracing::inline v1::internal
