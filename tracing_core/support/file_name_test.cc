#include "tracing_core/support/file_name.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace tracing::support { namespace {

using namespace std::literals;

TEST(FileName, IsTheNameIfAFileMayHaveIt) {
  for (std::string const name :
       {"Suite.Name", "Ty<std::pair<int, char>>.Fit", "A_B.C_0", "a~b", "~0123456789abcde", "x~0123456789abcdeg"})
    EXPECT_EQ(file_name_of(name), name);
  EXPECT_EQ(file_name_of(std::string(160, 'a')), std::string(160, 'a'));
}

TEST(FileName, DiffersForEachName) {
  std::string const long_one(160, 'a');
  std::set<std::string> found;
  std::size_t count = 0;
  for (std::string const& name :
       {"A/B.C/0"s, "A_B.C/0"s, "A/B.C_0"s, "A_B.C_0"s, file_name_of("A/B.C/0"), file_name_of(file_name_of("A/B.C/0")),
        "A\0B.C_0"s, "A\nB.C_0"s, long_one, long_one + "b", long_one + "c", long_one + "/", long_one.substr(0, 143)}) {
    std::string const made = file_name_of(name);
    EXPECT_LE(made.size(), 160U);
    EXPECT_EQ(made.find_first_of("/\0\n"sv), made.npos);
    EXPECT_TRUE(found.insert(made).second) << name;
    EXPECT_EQ(found.size(), ++count);
  }
}

TEST(FileName, BeginsWithTheName) {
  EXPECT_EQ(file_name_of("Suite/0.Name").substr(0, 13), "Suite_0.Name~");
  EXPECT_EQ(file_name_of("Suite/0.Name").size(), 29U);
}

}}  // namespace tracing::support
