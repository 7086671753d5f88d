// StackPath: finds the frames that a folded stack shares with the stack before it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracing { inline namespace v1 { namespace internal {

/// Keeps the last stack that was read. Neighbouring lines share most of their frames, so only new frames need
/// processing. Single-thread.
class StackPath {
 public:
  /// Replaces the stack. Returns the number of frames, from the outside, that the old and the new stack share.
  std::size_t go_to(std::string_view stack);
  /// Does what go_to() does, with the frames of `stack` reversed.
  std::size_t go_to_reversed(std::string_view stack);

  std::size_t size() const noexcept { return ends_.size(); }
  /// Returns the name of a frame, valid until the next go_to(). REQUIRES: i < size().
  std::string_view frame(std::size_t i) const noexcept {
    std::size_t const begin = i == 0 ? 0 : ends_[i - 1] + 1;
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;  // of each frame in `text_`
  std::string reversed_;
};

}}}  // namespace tracing::v1::internal
