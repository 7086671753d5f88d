// StackPath: finds the frames that a folded stack shares with the one before.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracing::inline v1::internal {

/// The last stack that was read. Neighbouring lines share most of their frames, so only the new ones need processing.
/// Single-thread.
class StackPath {
 public:
  /// Replaces the stack. Returns the number of frames, from the outside, that the two share.
  std::size_t go_to(std::string_view stack);
  /// The same with the frames of `stack` reversed.
  std::size_t go_to_reversed(std::string_view stack);

  std::size_t size() const noexcept { return ends_.size(); }
  /// The name of a frame, valid until the next go_to(). REQUIRES: i < size().
  std::string_view frame(std::size_t i) const noexcept {
    std::size_t const begin = i == 0 ? 0 : ends_[i - 1] + 1;
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  // of each frame in `text_`
  std::string reversed_;
};

}  // namespace tracing::inline v1::internal
