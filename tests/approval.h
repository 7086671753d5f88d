// expect_approved() compares printed text with an approved file.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tracing::testing {

/// Expects `text` to be the content of `approved/<name>` in the folder of the test's sources. With the environment
/// variable TESTLOG_APPROVE=1 it writes that file instead: run the test so, then read the difference before you commit
/// it.
inline void expect_approved(std::string_view name, std::string_view text, char const* folder = TESTLOG_TEST_DIR) {
  std::filesystem::path const path = std::filesystem::path(folder) / "approved" / name;
  char const* const approve = std::getenv("TESTLOG_APPROVE");
  if (approve != nullptr && std::string_view(approve) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " does not exist; to create it: TESTLOG_APPROVE=1 ctest -R <this test>";
  std::ostringstream approved;
  approved << file.rdbuf();
  EXPECT_EQ(approved.str(), text) << "differs from " << path
                                  << "; if the new text is right: TESTLOG_APPROVE=1 ctest -R <this test>";
}

}  // namespace tracing::testing
