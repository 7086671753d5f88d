# testlog_unit_test(<name> SOURCES <file>... [DEPS <target>...] [LABELS <label>...])
#
# A GoogleTest program of the project's own tests, with gtest_main and gmock, discovered test by test, run with the
# environment scrubbed of every TRACE_ variable so that a developer's shell cannot change a result.

function(testlog_unit_test name)
  if(NOT TESTLOG_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  testlog_warnings(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "unit;${ARG_LABELS}" ENVIRONMENT_MODIFICATION "${TESTLOG_SCRUBBED_ENVIRONMENT}")
endfunction()

set(TESTLOG_SCRUBBED_ENVIRONMENT
  TRACE_FILTER=unset: TRACE_SHOW=unset: TRACE_CAPTURE=unset: TRACE_FORMAT=unset: TRACE_SPAN_EVENTS=unset:
  TRACE_TIME=unset: TRACE_COLOR=unset: TRACE_OUTPUT=unset: TRACE_PROFILE=unset: TRACE_PERF=unset:
  NO_COLOR=unset: CLICOLOR_FORCE=unset: CI=unset:)
