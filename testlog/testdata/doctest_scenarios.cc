// Tests of doctest that fail, die and hang, run by frameworks_test.cc.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "testlog/records.h"
#include "testlog/testdata/framework_library.h"

TEST_CASE("passes") { CHECK(divide(6, 3) == 2); }

TEST_CASE("numbers divide, or not") {
  SUBCASE("evenly") { CHECK(divide(6, 3) == 2); }
  SUBCASE("with a rest") {
    SUBCASE("small") { CHECK(divide(6, 4) == 2); }
    INFO("the rest is 1");
    REQUIRE(divide(7, 2) == 4);
  }
}

TEST_CASE("throws") { divide(1, 0); }

TEST_CASE("swallows an error") { CHECK_FALSE(divides(1, 0)); }

TEST_CASE("may fail" * doctest::may_fail()) { CHECK(divide(1, 1) == 2); }

TEST_CASE("has records") {
  testlog::Mark const before = testlog::mark();
  divides(1, 0);
  testlog::Records const records = testlog::records().since(before);
  REQUIRE(records.size() == 2);
  CHECK(records[0].name == "divide");
  CHECK(records[1].message == "division by zero");
}

TEST_CASE("dies" * doctest::skip()) {
  SUBCASE("inside") { die(); }
}
TEST_CASE("hangs" * doctest::skip()) { hang(); }
