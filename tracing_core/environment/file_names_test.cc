#include "tracing_core/environment/file_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace tracing::internal {
namespace {

TEST(FileNames, HaveTheProcessAndTheTest) {
  EXPECT_EQ(filled_in("/tmp/%t.%p.log", "Suite/0.Name"), "/tmp/Suite_0.Name." + std::to_string(getpid()) + ".log");
  EXPECT_EQ(filled_in("100%.log", "Suite.Name"), "100%.log");
}

TEST(FileNames, OfLongTestsFitFilesystemsAndDiffer) {
  std::string const same(159, 'a');
  EXPECT_EQ(filled_in("%t", same + 'b'), same + 'b');
  std::string const one = filled_in("%t.rec", same + "bc");
  std::string const other = filled_in("%t.rec", same + "bd");
  EXPECT_EQ(one.size(), 164U);
  EXPECT_EQ(one, filled_in("%t.rec", same + "bc"));
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace tracing::internal
