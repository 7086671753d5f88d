# testlog_discover_tests(<target> [any argument of gtest_discover_tests()...])
#
# Makes each test of a GoogleTest program a test of CTest, as gtest_discover_tests() does, with the same arguments.

function(testlog_discover_tests target)
  # Here and not above: the module keeps the place of its script in a variable, which a project that adds our tree with
  # add_subdirectory() would not see.
  include(GoogleTest)
  # Each argument passes as it is: a plain ${ARGN} would take apart those that hold semicolons.
  set(arguments "")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    string(APPEND arguments " [==[${ARGV${i}}]==]")
  endforeach()
  cmake_language(EVAL CODE "gtest_discover_tests(${arguments})")
endfunction()
