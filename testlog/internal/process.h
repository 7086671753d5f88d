// ProcessRole: the purpose of the process, by its command line, which is read before main() runs.
#pragma once

#include <string_view>

namespace testlog { inline namespace v1 { namespace internal {

struct ProcessRole {
  bool listing = false;            ///< --gtest_list_tests: prints and opens nothing
  bool death_test_child = false;   ///< child of a threadsafe death test: prints nothing
  std::string_view gtest_color{};  ///< of --gtest_color or GTEST_COLOR; empty if neither is set
  std::string_view only_test{};  ///< the test that --gtest_filter or GTEST_FILTER names; empty if there may be several
  int argc = 0;
  char const* const* argv = nullptr;
};

/// Derives the role from the arguments of main().
ProcessRole read_role(int argc, char const* const* argv) noexcept;

}}}  // namespace testlog::v1::internal
