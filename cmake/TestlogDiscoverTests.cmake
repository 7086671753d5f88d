# testlog_discover_tests(<target> [any argument of gtest_discover_tests()...])
#
# Makes each test of a GoogleTest program a test of CTest, as gtest_discover_tests() does, with the same arguments.

include_guard(GLOBAL)
include(GoogleTest)

function(testlog_discover_tests target)
  gtest_discover_tests(${target} ${ARGN})
endfunction()
