# testlog_check_counts(<target> BASELINE <file> [NAME <name>] [SUM <field>...] [TEST_FILTER <pattern>] [EXTRA_ARGS <argument>...])
#
# Adds a test `<name>`, by default `<target>.counts`, that runs the GoogleTest program <target>, records its tests in a folder below
# ${CMAKE_CURRENT_BINARY_DIR}, and compares what they do with the numbers in <file>, which `testlog counts` wrote. A relative <file> is
# in the source folder. If a number differs, the program runs twice more, so that numbers that differ in each run drop out; then the
# test fails with the differences and the command that accepts them. It also fails if a test of the program fails or, with the
# command that makes it, if there is no <file>. SUM names the fields whose integers are added up, by default `bytes`; it must be that
# of <file>. TEST_FILTER selects tests by --gtest_filter; EXTRA_ARGS are passed to the program.

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set_property(GLOBAL PROPERTY TESTLOG_CHECK_COUNTS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")
endif()

function(testlog_check_counts target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "BASELINE;NAME;TEST_FILTER" "SUM;EXTRA_ARGS")
  if(NOT ARG_BASELINE OR ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "testlog_check_counts(${target} ...): expected BASELINE <file> [NAME <name>] [SUM <field>...] "
      "[TEST_FILTER <pattern>] [EXTRA_ARGS <argument>...]")
  elseif(NOT TARGET ${target})
    message(FATAL_ERROR "testlog_check_counts(${target} ...): there is no target ${target}")
  elseif(TARGET testlog::command)
    set(command "$<TARGET_FILE:testlog::command>")
  elseif(EXISTS "${testlog_COMMAND}")
    set(command "${testlog_COMMAND}")
  else()
    message(FATAL_ERROR "testlog_check_counts(${target} ...) needs the program `testlog`, which was not built. Build testlog with "
      "-DTESTLOG_BUILD_COMMAND=ON, or name the program by -Dtestlog_COMMAND=<path>.")
  endif()
  if(NOT ARG_NAME)
    set(ARG_NAME "${target}.counts")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_BASELINE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  if(ARG_TEST_FILTER)
    list(PREPEND ARG_EXTRA_ARGS "--gtest_filter=${ARG_TEST_FILTER}")
  endif()
  string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" folder "${ARG_NAME}")
  list(JOIN ARG_SUM "," sum)
  get_property(script GLOBAL PROPERTY TESTLOG_CHECK_COUNTS_SCRIPT)
  add_test(NAME "${ARG_NAME}" COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${target}>" "-DTESTLOG=${command}"
    "-DBASELINE=${ARG_BASELINE}" "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/testlog_counts/${folder}$<$<BOOL:$<CONFIG>>:/$<CONFIG>>" "-DSUM=${sum}"
    -P "${script}" -- ${ARG_EXTRA_ARGS})
endfunction()

# What follows is the test.

# Runs the program with the arguments behind `--`. Its tests record in FOLDER.
function(testlog_record_tests)
  set(arguments "")
  set(is_behind OFF)
  math(EXPR last "${CMAKE_ARGC} - 1")
  foreach(i RANGE ${last})
    if(is_behind)
      string(APPEND arguments " [==[${CMAKE_ARGV${i}}]==]")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
      set(is_behind ON)
    endif()
  endforeach()
  cmake_language(EVAL CODE "execute_process(COMMAND [==[${PROGRAM}]==] ${arguments} RESULT_VARIABLE result)")
  if(NOT result STREQUAL "0")
    message(FATAL_ERROR "A test failed, so nothing was compared: ${PROGRAM} ended with ${result}")
  endif()
endfunction()

function(testlog_compare_counts result output)
  execute_process(COMMAND "${TESTLOG}" counts ${SUM} --against "${BASELINE}" "${FOLDER}" RESULT_VARIABLE is_different
    OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(REPLACE ": testlog counts " ": ${TESTLOG} counts " err "${err}")  # which may not be in the PATH
  set(${output} "${out}${err}" PARENT_SCOPE)
  set(${result} "${is_different}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  foreach(variable IN ITEMS PROGRAM TESTLOG)
    if(NOT EXISTS "${${variable}}")
      message(FATAL_ERROR "The program ${${variable}} is missing: it was not built")
    endif()
  endforeach()
  if(NOT SUM STREQUAL "")
    set(SUM "--sum=${SUM}")
  endif()
  file(REMOVE_RECURSE "${FOLDER}")
  file(MAKE_DIRECTORY "${FOLDER}")
  set(ENV{TRACE_RECORD} "${FOLDER}")
  set(ENV{TRACE_RECORD_KEEP} all)
  testlog_record_tests()
  set(is_different 1)
  if(EXISTS "${BASELINE}")
    testlog_compare_counts(is_different output)
  endif()
  if(NOT is_different STREQUAL "0")
    testlog_record_tests()
    testlog_record_tests()
    if(NOT EXISTS "${BASELINE}")
      message("To make the file of what the tests do now: ${TESTLOG} counts ${SUM} -o ${BASELINE} ${FOLDER}")
      message(FATAL_ERROR "There is no file ${BASELINE}")
    endif()
    testlog_compare_counts(is_different output)
  endif()
  if(NOT output STREQUAL "")
    message("${output}")
  endif()
  if(NOT is_different STREQUAL "0")
    message(FATAL_ERROR "The tests do not do what ${BASELINE} says")
  endif()
endif()
