// DurationSketch: a histogram of durations from which any quantile can be read with a known error.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracing_core/support/cxx20.h"

namespace tracing { inline namespace v1 {

/// Counts durations in buckets, 32 for each power of two (the layout of HdrHistogram); durations below 32 ns are exact.
/// The relative error of a quantile is at most kRelativeError. Memory: half a KiB, and 256 bytes for each power of two
/// that occurs, at most 16 KiB. One thread may add while others read.
class DurationSketch {
 public:
  static constexpr double kRelativeError = 1.0 / 64;

  DurationSketch() noexcept = default;
  DurationSketch(DurationSketch const&) = delete;
  DurationSketch& operator=(DurationSketch const&) = delete;
  ~DurationSketch();

  /// Counts one duration, unless memory runs out for its bucket.
  void add(std::uint64_t ns) noexcept {
    std::size_t const power = power_of(ns);
    Bucket* const group = groups_[power].load(std::memory_order_relaxed);
    Bucket* const buckets = group != nullptr ? group : make(power);
    if (buckets == nullptr) [[unlikely]]
      return;
    Bucket& bucket = buckets[place_of(ns, power)];
    bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Adds the counts of `other`.
  void merge(DurationSketch const& other) noexcept;
  /// Subtracts the counts of an earlier state of this sketch.
  void subtract(DurationSketch const& earlier) noexcept;

  std::uint64_t count() const noexcept;
  /// Returns the shortest duration that at least the fraction `q` (0 to 1) of all durations does not exceed, or zero if
  /// nothing was counted.
  std::uint64_t quantile(double q) const noexcept;

 private:
  using Bucket = std::atomic<std::uint64_t>;
  static constexpr unsigned kBits = 5;
  static constexpr std::size_t kPlaces = std::size_t{1} << kBits;
  static constexpr std::size_t kPowers = 64 - kBits + 1;

  // Group 0 holds the values below kPlaces, each in its own bucket. Group p, from 1, holds the values of kBits + p
  // bits.
  static std::size_t power_of(std::uint64_t ns) noexcept {
    return 64 - kBits - static_cast<std::size_t>(__builtin_clzll(ns | (kPlaces - 1)));
  }
  static std::size_t place_of(std::uint64_t ns, std::size_t power) noexcept {
    return static_cast<std::size_t>(ns >> (power - (power != 0))) & (kPlaces - 1);
  }
  static std::uint64_t middle_of(std::size_t power, std::size_t place) noexcept;
  Bucket* make(std::size_t power) noexcept;
  template <class F>
  void combine(DurationSketch const& other, F&& f) noexcept;

  std::array<std::atomic<Bucket*>, kPowers> groups_{};
};

}}  // namespace tracing::v1
