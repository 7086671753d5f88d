// A program with a main() of its own that logs with spdlog around its tests. spdlog_test.cc runs it.
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

namespace {

bool exits_in_set_up = false;

struct Database final : testing::Environment {
  void SetUp() override {
    spdlog::error("no database");
    if (exits_in_set_up) std::exit(3);
  }
};

TEST(OwnMain, Passes) { spdlog::info("in the test"); }

}  // namespace

int main(int argc, char** argv) {
  spdlog::info("main begins");
  std::string_view const what = argc > 1 ? argv[1] : "";
  if (what == "--without-config") {
    spdlog::critical("no config file");
    return 1;
  }
  exits_in_set_up = what == "--exit-in-set-up";
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new Database);
  int const result = RUN_ALL_TESTS();
  spdlog::warn("main ends");
  return result;
}
