// SpanTracker: the spans that a track of a recording is in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 { namespace recording {

constexpr std::uint64_t key_of(std::uint64_t key) noexcept { return key; }

/// A stack of spans, by their keys or by entries with a key_of(). Grows as needed, or lives in room of the caller and
/// allocates nothing: then it keeps the outermost spans and counts the others. Single-thread.
template <class Entry>
class SpanTracker {
 public:
  SpanTracker() noexcept = default;
  SpanTracker(Entry* room, std::size_t capacity) noexcept : entries_(room), capacity_(capacity), grows_(false) {}
  SpanTracker(SpanTracker const&) = delete;
  SpanTracker& operator=(SpanTracker const&) = delete;

  void enter(Entry const& entry) {
    if (depth_ == capacity_ && grows_) grow();
    if (depth_ < capacity_) entries_[depth_] = entry;
    ++depth_;
  }
  void leave_innermost() noexcept { depth_ -= depth_ > 0; }
  /// Leaves the innermost entry of this span. Empty if the track is not in the span. Searches the innermost thousand
  /// entries: otherwise a damaged recording that leaves spans it is not in would take quadratic time.
  std::optional<Entry> leave(std::uint64_t key) noexcept {
    Entry* const found = find(key);
    if (found == nullptr) return std::nullopt;
    Entry const left = *found;
    std::copy(found + 1, entries_ + size(), found);
    --depth_;
    return left;
  }
  bool is_in(std::uint64_t key) noexcept { return find(key) != nullptr; }
  void clear() noexcept { depth_ = 0; }

  /// The key of the innermost span, zero if there is none.
  std::uint64_t innermost() const noexcept { return depth_ == 0 ? 0 : key_of(entries_[size() - 1]); }
  /// The number of spans that the track is in.
  std::size_t depth() const noexcept { return depth_; }
  /// The number of entries that are kept.
  std::size_t size() const noexcept { return std::min(depth_, capacity_); }
  /// Outermost first.
  Entry const* begin() const noexcept { return entries_; }
  Entry const* end() const noexcept { return entries_ + size(); }

 private:
  static constexpr std::size_t kMaxSearched = 1000;

  Entry* find(std::uint64_t key) noexcept {
    for (std::size_t i = size(), searched = 0; i > 0 && searched < kMaxSearched; ++searched) {
      if (key_of(entries_[--i]) == key) return entries_ + i;
    }
    return nullptr;
  }
  void grow() {
    own_.resize(std::max<std::size_t>(16, 2 * capacity_));
    entries_ = own_.data();
    capacity_ = own_.size();
  }

  std::vector<Entry> own_{};
  Entry* entries_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t depth_ = 0;
  bool grows_ = true;
};

}}}  // namespace tracing::v1::recording
