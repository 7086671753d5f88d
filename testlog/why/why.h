// causes_of(): finds how failing runs of a test differed from passing runs before they failed.
//
// A run is a set of features: which statements recorded, how often, in which order, on which threads, with which values
// and for how long. A feature counts only if all passing runs agree on it, so ids, addresses and times drop out. A
// difference has a score: the share of failing runs that have it minus the share of passing runs that have it, with one
// run added to each side, which counts half. So 1 of 1 is weak, and a difference that one of many passing runs has too
// still counts. Kinds of differences that passing runs have among themselves, such as other orders in a test whose
// threads race, come last.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "testlog/why/cause.h"
#include "testlog/why/run_features.h"

namespace testlog::why {

/// What was not compared.
struct Ignored {
  std::size_t volatile_fields = 0;  ///< fields whose values are not the same in all passing runs
  std::size_t overwritten_failing = 0, overwritten_passing = 0;  ///< runs that lost records
};

/// Returns the differences, most likely causes first: by score, then by time. Empty if there are none, or if there are
/// fewer than kMinPassing passing runs. At most 1000.
std::vector<Cause> causes_of(Sites const& sites, std::span<RunFeatures const> failing,
                             std::span<RunFeatures const> passing);
Ignored ignored_in(std::span<RunFeatures const> failing, std::span<RunFeatures const> passing);

}  // namespace testlog::why
