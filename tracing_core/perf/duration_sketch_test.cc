#include "tracing_core/perf/duration_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tracing { namespace {

std::uint64_t exact_quantile(std::vector<std::uint64_t> const& sorted, double q) {
  double const rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

void expect_quantiles(std::vector<std::uint64_t> values, std::string const& what) {
  DurationSketch sketch;
  for (std::uint64_t const value : values) sketch.add(value);
  std::sort(values.begin(), values.end());
  ASSERT_EQ(sketch.count(), values.size());
  for (double const q : {0.0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    auto const exact = static_cast<double>(exact_quantile(values, q));
    auto const estimated = static_cast<double>(sketch.quantile(q));
    EXPECT_LE(std::abs(estimated - exact), exact * DurationSketch::kRelativeError)
        << what << ", quantile " << q << " of " << exact;
  }
}

TEST(DurationSketch, QuantilesAreWithinTheStatedError) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(2e6, 3e5);
  std::lognormal_distribution<double> lognormal(8, 2);
  std::exponential_distribution<double> exponential(1e-5);
  std::vector<std::pair<std::string, std::function<double()>>> const distributions{
      {"uniform to 1 ms", [&] { return uniform(random) * 1e6; }},
      {"small ones", [&] { return uniform(random) * 40; }},
      {"normal", [&] { return std::max(normal(random), 0.0); }},
      {"lognormal, four decades", [&] { return lognormal(random); }},
      {"exponential", [&] { return exponential(random); }},
      {"Pareto, a long tail", [&] { return 100 / std::pow(uniform(random), 1.5); }},
      {"two peaks", [&] { return uniform(random) < 0.9 ? 50 + 5 * uniform(random) : 1e7 + 1e5 * uniform(random); }},
      {"all of 64 bits", [&] { return std::exp2(63.9 * uniform(random)); }},
      {"a constant", [] { return 12345.0; }},
  };
  for (auto const& [what, draw] : distributions) {
    std::vector<std::uint64_t> values(20000);
    for (std::uint64_t& value : values) value = static_cast<std::uint64_t>(draw());
    expect_quantiles(std::move(values), what);
  }
}

TEST(DurationSketch, EachValueIsWithinTheStatedError) {
  std::vector<std::uint64_t> values;
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (std::int64_t const near : {-1, 0, 1})
      values.push_back((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(near));
  }
  values.push_back(~std::uint64_t{0});
  for (std::uint64_t const value : values) {
    DurationSketch sketch;
    sketch.add(value);
    double const estimated = static_cast<double>(sketch.quantile(0.5));
    EXPECT_LE(std::abs(estimated - static_cast<double>(value)), static_cast<double>(value) / 64) << value;
  }
}

TEST(DurationSketch, SmallValuesAreExact) {
  for (std::uint64_t value = 0; value < 32; ++value) {
    DurationSketch sketch;
    sketch.add(value);
    EXPECT_EQ(sketch.quantile(0.99), value);
  }
}

TEST(DurationSketch, MergesAndSubtracts) {
  DurationSketch first, second, both, empty;
  for (std::uint64_t i = 0; i < 1000; ++i) first.add(i), both.add(i), second.add(i * 1000), both.add(i * 1000);
  DurationSketch merged;
  merged.merge(first);
  merged.merge(second);
  merged.merge(empty);
  EXPECT_EQ(merged.count(), 2000u);
  for (double const q : {0.1, 0.5, 0.9}) EXPECT_EQ(merged.quantile(q), both.quantile(q));
  merged.subtract(first);
  EXPECT_EQ(merged.count(), 1000u);
  for (double const q : {0.1, 0.5, 0.9}) EXPECT_EQ(merged.quantile(q), second.quantile(q));
}

TEST(DurationSketch, IsZeroIfEmpty) {
  DurationSketch const sketch;
  EXPECT_EQ(sketch.count(), 0u);
  EXPECT_EQ(sketch.quantile(0.5), 0u);
}

}}  // namespace tracing
