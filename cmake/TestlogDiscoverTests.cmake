# testlog_discover_tests(<target> [any argument of gtest_discover_tests()...])
#
# Adds each test of a GoogleTest program to CTest. Forwards all arguments to gtest_discover_tests().

function(testlog_discover_tests target)
  # Included here since the module sets a variable that a parent project would not see.
  include(GoogleTest)
  # A plain ${ARGN} would split arguments that contain semicolons.
  set(arguments "")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    string(APPEND arguments " [==[${ARGV${i}}]==]")
  endforeach()
  cmake_language(EVAL CODE "gtest_discover_tests(${arguments})")
endfunction()
