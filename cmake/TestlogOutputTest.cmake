# testlog_output_test(<test> <target> APPROVED <file> [ARGUMENTS <argument>...] [ENVIRONMENT <name=value>...] [RESULT <status>]
#                     [WRITES <pattern>] [LABELS <label>...])
#
# A test that runs a program with no variable of ours set except those of ENVIRONMENT, and compares its output with an approved
# file; with WRITES also the file that it writes into its working folder. `TESTLOG_APPROVE=1 ctest -R <test>` renews the
# approved file.

set(TESTLOG_OUTPUT_TEST_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/RunAndCompare.cmake)

function(testlog_output_test test target)
  if(NOT TESTLOG_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "APPROVED;RESULT;WRITES" "ARGUMENTS;ENVIRONMENT;LABELS" ${ARGN})
  add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} "-DFOLDERS=${PROJECT_BINARY_DIR};${testlog_SOURCE_DIR};${PROJECT_SOURCE_DIR}"
    -DPROGRAM=$<TARGET_FILE:${target}>
    "-DARGUMENTS=${ARG_ARGUMENTS}" -DRESULT=${ARG_RESULT} -DWRITES=${ARG_WRITES}
    -DAPPROVED=${ARG_APPROVED} -P ${TESTLOG_OUTPUT_TEST_SCRIPT})
  if(ARG_WRITES)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${test})
    file(MAKE_DIRECTORY ${folder})
    set_tests_properties(${test} PROPERTIES WORKING_DIRECTORY ${folder})
  endif()
  set(environment ${TESTLOG_SCRUBBED_ENVIRONMENT})
  foreach(variable IN LISTS ARG_ENVIRONMENT)
    string(REGEX REPLACE "^([^=]+)=(.*)$" "\\1=set:\\2" variable "${variable}")
    list(APPEND environment ${variable})
  endforeach()
  set_tests_properties(${test} PROPERTIES LABELS "${ARG_LABELS}" ENVIRONMENT_MODIFICATION "${environment}")
endfunction()
