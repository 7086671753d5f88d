// Declares StackPath, which tells what a folded stack shares with the one before it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracing::inline v1::internal {

/// The stack that was read last. Neighbouring lines share most of their frames, so whoever walks a stack need only walk
/// what is new in it. Single-thread.
class StackPath {
 public:
  /// Makes `stack` the last one. Returns how many frames, from the outside, it shares with the one before.
  std::size_t go_to(std::string_view stack);
  /// The same with its frames the other way round: the innermost is the outermost.
  std::size_t go_to_reversed(std::string_view stack);

  std::size_t size() const noexcept { return ends_.size(); }
  /// Its name; until the next go_to(). REQUIRES: i < size().
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
