// For tests: applies an instruction to values, one case in each lane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda_cpu/executor/reference/run_test_support.h"
#include "cuda_cpu/ptx/forms.h"

namespace cuda_cpu {

/// Returns the results of a form for each case, which is a list of its sources. Registers have the size of the form's
/// types; a predicate is zero or one. `second` gets the second destination predicates. Declares that the test checks
/// the form, unless `listed` is false, so the caller must compare the results.
[[nodiscard]] std::vector<std::uint64_t> apply_form(std::string const& form,
                                                    std::vector<std::vector<std::uint64_t>> const& cases,
                                                    std::vector<std::uint64_t>* second = nullptr, bool listed = true);

}  // namespace cuda_cpu
