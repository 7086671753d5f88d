// UnreportedRecords: remembers which captured records are in no failure report yet.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace testlog { inline namespace v1 {

/// Identifies records by their places in the recording, see Capture. Records of passing tests are never reported.
/// Records made while the environments and the running test's suite were set up wait for the first test that fails.
/// Single-thread, except that the handler of a fatal signal may read on any thread.
class UnreportedRecords {
 public:
  enum SetUp : std::size_t { of_environments, of_suite };

  /// Called when a set-up begins, or ends. `next` is the place of the next record.
  void begin(SetUp which, std::uint64_t next) noexcept {
    set_ups_[which].end = kOpen;
    set_ups_[which].first = next;
  }
  void end(SetUp which, std::uint64_t next) noexcept {
    if (set_ups_[which].end == kOpen) set_ups_[which].end = next;
  }

  /// Marks the records of tests before `next` as reported, or as never to be reported.
  void skip_to(std::uint64_t next) noexcept { first_of_tests_ = next; }
  /// Marks all records before `next` as reported.
  void report_to(std::uint64_t next) noexcept {
    skip_to(next);
    for (Range& set_up : set_ups_) set_up.first = std::max(set_up.first.load(), next);
  }

  bool contains(std::uint64_t place) const noexcept { return place >= first_of_tests_ || is_of_set_up(place); }
  /// Returns the place of the first record since the last report or passing test.
  std::uint64_t first_of_tests() const noexcept { return first_of_tests_; }
  /// Returns the place of the first record that may still be reported.
  std::uint64_t first() const noexcept {
    std::uint64_t first = first_of_tests_;
    for (Range const& set_up : set_ups_) {
      if (set_up.first < set_up.end) first = std::min(first, set_up.first.load());
    }
    return first;
  }

 private:
  struct Range {
    std::atomic<std::uint64_t> first{0}, end{0};
  };
  static constexpr std::uint64_t kOpen = ~std::uint64_t{0};

  bool is_of_set_up(std::uint64_t place) const noexcept {
    return std::any_of(set_ups_.begin(), set_ups_.end(),
                       [place](Range const& set_up) { return set_up.first <= place && place < set_up.end; });
  }

  std::atomic<std::uint64_t> first_of_tests_{0};
  std::array<Range, 2> set_ups_{};
};

}}  // namespace testlog::v1
