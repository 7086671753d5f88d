// For tests: which forms of instructions each test ran, and of which it compared the results. Kept where the environment has
// CUDA_TESTS_CHECK_FORMS; coverage_test.cc compares it in the end with the forms of the kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <set>
#include <string>

#include "cuda_tests/executor/executor.h"

namespace cuda_tests {

/// By the name of the test: "Faults.TrapIsAnIllegalInstruction".
struct FormRecord {
  using Forms = std::set<std::string, std::less<>>;

  std::map<std::string, Forms, std::less<>> ran;
  std::map<std::string, Forms, std::less<>> checked;
};

/// Null where none is kept.
inline FormRecord* form_record() {
  static FormRecord* const record = std::getenv("CUDA_TESTS_CHECK_FORMS") != nullptr ? new FormRecord : nullptr;
  return record;
}

inline std::string current_test() {
  auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
  return test == nullptr ? "" : std::string(test->test_suite_name()) + "." + test->name();
}

inline void record_run(RunStatistics const& statistics) {
  if (form_record() == nullptr) return;
  for (auto const& [form, of_form] : statistics.opcodes) form_record()->ran[current_test()].emplace(form);
}

/// Says that this test compares what these forms give with values that were not computed by them. They count as checked if the
/// test runs them, too.
inline void checks_forms(std::initializer_list<std::string> forms) {
  if (form_record() != nullptr) form_record()->checked[current_test()].insert(forms.begin(), forms.end());
}

}  // namespace cuda_tests
