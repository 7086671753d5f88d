// Finds the differences of one failing run from all passing runs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "testlog/why/cause.h"
#include "testlog/why/run_features.h"

namespace testlog::why {

/// Identifies a difference across failing runs.
struct DifferenceKey {
  CauseKind kind = CauseKind::value;
  SiteId site = kNoSite;
  std::uint64_t detail = 0;  // a field; of an order: the other site; of an exception that left a span: kLeft
  friend auto operator<=>(DifferenceKey const&, DifferenceKey const&) noexcept = default;
};

inline constexpr std::uint64_t kLeft = 1;

struct Difference {
  DifferenceKey key{};
  Cause cause{};
  Moment at{};               ///< from when on the run differs
  Moment record{};           ///< of the record, if it is earlier: a span lasts too long some time after it began
  SiteId other = kNoSite;    // of an order: the site that came first
  double share_passing = 0;  // the share of the counted passing runs that have the difference
  double weight = 1;         // less if the difference says less than others
  std::size_t passing = 0;   // the number of counted passing runs: a run counts if it is complete or has the difference
};

/// Finds the differences of the failing run `index`. REQUIRES: at least one passing run.
std::vector<Difference> differences_of(Sites const& sites, RunFeatures const& failing, std::size_t index,
                                       std::span<RunFeatures const* const> passing);
/// Finds the differences of a passing run from others, as if it had failed where the failing run `index` failed.
std::vector<Difference> differences_of_passing(Sites const& sites, RunFeatures const& run, std::size_t index,
                                               std::span<RunFeatures const* const> others);

}  // namespace testlog::why
