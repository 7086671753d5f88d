#include "tracing_core/perf/duration_sketch.h"

#include <cmath>
#include <functional>
#include <new>

namespace tracing { inline namespace v1 {

DurationSketch::~DurationSketch() {
  for (auto& group : groups_) delete[] group.load(std::memory_order_relaxed);
}

DurationSketch::Bucket* DurationSketch::make(std::size_t power) noexcept {
  Bucket* const made = new (std::nothrow) Bucket[kPlaces]();
  groups_[power].store(made, std::memory_order_release);
  return made;
}

template <class F>
void DurationSketch::combine(DurationSketch const& other, F&& f) noexcept {
  for (std::size_t power = 0; power < kPowers; ++power) {
    Bucket const* const from = other.groups_[power].load(std::memory_order_acquire);
    if (from == nullptr) continue;
    Bucket* to = groups_[power].load(std::memory_order_relaxed);
    if (to == nullptr) to = make(power);
    for (std::size_t i = 0; to != nullptr && i < kPlaces; ++i)
      to[i].store(f(to[i].load(std::memory_order_relaxed), from[i].load(std::memory_order_relaxed)),
                  std::memory_order_relaxed);
  }
}

void DurationSketch::merge(DurationSketch const& other) noexcept { combine(other, std::plus<>()); }

void DurationSketch::subtract(DurationSketch const& earlier) noexcept {
  combine(earlier, [](std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; });
}

std::uint64_t DurationSketch::count() const noexcept {
  std::uint64_t all = 0;
  for (auto const& group : groups_) {
    Bucket const* const buckets = group.load(std::memory_order_acquire);
    for (std::size_t i = 0; buckets != nullptr && i < kPlaces; ++i) all += buckets[i].load(std::memory_order_relaxed);
  }
  return all;
}

std::uint64_t DurationSketch::middle_of(std::size_t power, std::size_t place) noexcept {
  if (power == 0) return place;
  std::uint64_t const width = std::uint64_t{1} << (power - 1);
  return (kPlaces + place) * width + (width - 1) / 2;
}

std::uint64_t DurationSketch::quantile(double q) const noexcept {
  std::uint64_t const all = count();
  if (all == 0) return 0;
  double const rank = std::ceil(q * static_cast<double>(all));
  std::uint64_t left = rank < 1 ? 1 : static_cast<std::uint64_t>(rank);
  if (left > all) left = all;
  std::uint64_t last = 0;
  for (std::size_t power = 0; power < kPowers; ++power) {
    Bucket const* const buckets = groups_[power].load(std::memory_order_acquire);
    for (std::size_t i = 0; buckets != nullptr && i < kPlaces; ++i) {
      std::uint64_t const here = buckets[i].load(std::memory_order_relaxed);
      if (here == 0) continue;
      last = middle_of(power, i);
      if (here >= left) return last;
      left -= here;
    }
  }
  return last;
}

}}  // namespace tracing::v1
