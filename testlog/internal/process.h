// Declares what the process was started for, read off its command line before main() runs.
#pragma once

#include <string_view>

namespace testlog::inline v1::internal {

struct ProcessRole {
  bool listing = false;            ///< --gtest_list_tests: says nothing, opens nothing
  bool death_test_child = false;   ///< the child of a threadsafe death test, which runs one statement and says nothing
  std::string_view gtest_color{};  ///< of --gtest_color or GTEST_COLOR; empty where neither is there
};

/// Reads the role off the arguments of main().
ProcessRole read_role(int argc, char const* const* argv) noexcept;

}  // namespace testlog::inline v1::internal
