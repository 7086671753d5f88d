// For tests: records the forms of instructions whose results each test checks, if the environment variable
// CUDA_CPU_CHECK_FORMS is set. coverage_test.cc compares them with the forms of the kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <set>
#include <string>

namespace cuda_cpu {

using Forms = std::set<std::string, std::less<>>;
using CheckedForms = std::map<std::string, Forms>;  // by test: "MemorySemantics.AtomicsReturnTheOldValue"

/// Returns null if the forms are not recorded.
inline CheckedForms* checked_forms() {
  static CheckedForms* const all = secure_getenv("CUDA_CPU_CHECK_FORMS") != nullptr ? new CheckedForms : nullptr;
  return all;
}

/// Declares that the current test compares the results of these forms with independent values.
inline void checks_forms(std::initializer_list<std::string> forms) {
  if (checked_forms() == nullptr) return;
  auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
  (*checked_forms())[std::string(test->test_suite_name()) + "." + test->name()].insert(forms.begin(), forms.end());
}

}  // namespace cuda_cpu
