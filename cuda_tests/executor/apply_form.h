// For tests: what an instruction makes of values, one case in each lane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda_tests/executor/run_test_support.h"
#include "cuda_tests/ptx/forms.h"

namespace cuda_tests {

/// Registers are of the bits that the form says; a predicate is zero or one. Forms with one destination, or predicates as the
/// destination, whose second one is the second result. The form counts as checked: the caller compares the results.
[[nodiscard]] std::vector<std::uint64_t> apply_form(std::string const& form,
                                                    std::vector<std::vector<std::uint64_t>> const& cases,
                                                    std::vector<std::uint64_t>* second = nullptr);

}  // namespace cuda_tests
