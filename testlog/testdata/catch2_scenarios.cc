// Tests of Catch2 that fail, die and hang, run by frameworks_test.cc.
#include <catch2/catch_test_macros.hpp>

#include "testlog/records.h"
#include "testlog/testdata/framework_library.h"

TEST_CASE("passes") { CHECK(divide(6, 3) == 2); }

TEST_CASE("numbers divide, or not") {
  SECTION("evenly") { CHECK(divide(6, 3) == 2); }
  SECTION("with a rest") {
    SECTION("small") { CHECK(divide(6, 4) == 2); }
    INFO("the rest is 1");
    REQUIRE(divide(7, 2) == 4);
  }
}

TEST_CASE("throws") { divide(1, 0); }

TEST_CASE("swallows an error") { CHECK_FALSE(divides(1, 0)); }

TEST_CASE("may fail", "[!mayfail]") { CHECK(divide(1, 1) == 2); }

TEST_CASE("has records") {
  testlog::Mark const before = testlog::mark();
  divides(1, 0);
  testlog::Records const records = testlog::records().since(before);
  REQUIRE(records.size() == 2);
  CHECK(records[0].name == "divide");
  CHECK(records[1].message == "division by zero");
}

TEST_CASE("is skipped", "[.]") { SKIP("there is no device"); }
TEST_CASE("dies", "[.]") {
  SECTION("inside") { die(); }
}
TEST_CASE("hangs", "[.]") { hang(); }
