// Declares DurationSketch, which counts durations so that any quantile can be told within a known error.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tracing::inline v1 {

/// Counts durations in buckets that grow with them: 32 for each power of two (the layout of HdrHistogram), from 1 ns to all
/// that 64 bits hold, those below 32 ns exactly. A quantile is off by at most kRelativeError. Memory: half a KiB, and 256
/// bytes for each power of two that was met, at most 16 KiB. One thread adds; any others may read meanwhile.
class DurationSketch {
 public:
  static constexpr double kRelativeError = 1.0 / 64;

  DurationSketch() noexcept = default;
  DurationSketch(DurationSketch const&) = delete;
  DurationSketch& operator=(DurationSketch const&) = delete;
  ~DurationSketch();

  /// Counts one. Where there is no memory for its bucket it is not counted.
  void add(std::uint64_t ns) noexcept {
    std::size_t const power = power_of(ns);
    Bucket* const group = groups_[power].load(std::memory_order_relaxed);
    Bucket* const buckets = group != nullptr ? group : make(power);
    if (buckets == nullptr) [[unlikely]] return;
    Bucket& bucket = buckets[place_of(ns, power)];
    bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Adds what `other` counted.
  void merge(DurationSketch const& other) noexcept;
  /// Takes away what an earlier state of this one counted.
  void subtract(DurationSketch const& earlier) noexcept;

  std::uint64_t count() const noexcept;
  /// The least duration such that a part `q` of all, 0 to 1, is no longer; zero where none was counted.
  std::uint64_t quantile(double q) const noexcept;

 private:
  using Bucket = std::atomic<std::uint64_t>;
  static constexpr unsigned kBits = 5;
  static constexpr std::size_t kPlaces = std::size_t{1} << kBits;
  static constexpr std::size_t kPowers = 64 - kBits + 1;

  // Group 0 holds what is below kPlaces, each value in its own bucket; group p, from 1, what has kBits + p bits.
  static std::size_t power_of(std::uint64_t ns) noexcept {
    return 64 - kBits - static_cast<std::size_t>(__builtin_clzll(ns | (kPlaces - 1)));
  }
  static std::size_t place_of(std::uint64_t ns, std::size_t power) noexcept {
    return static_cast<std::size_t>(ns >> (power - (power != 0))) & (kPlaces - 1);
  }
  static std::uint64_t middle_of(std::size_t power, std::size_t place) noexcept;
  Bucket* make(std::size_t power) noexcept;

  std::array<std::atomic<Bucket*>, kPowers> groups_{};
};

}  // namespace tracing::inline v1
