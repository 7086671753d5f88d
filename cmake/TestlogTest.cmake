# testlog_unit_test(<name> SOURCES <file>... [DEPS <target>...] [LABELS <label>...])
#
# A GoogleTest program of the project's own tests, with gtest_main and gmock, discovered test by test, run with the
# environment scrubbed of every variable that we read, so that a developer's shell cannot change a result. TESTLOG_TEST_DIR
# is the folder of its sources, where approved files are kept.

function(testlog_unit_test name)
  if(NOT TESTLOG_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TESTLOG_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  testlog_warnings(${name})
  testlog_discover_tests(${name} DISCOVERY_TIMEOUT 60)
  # gtest_discover_tests() flattens properties that are lists, so they are set by a script that ctest reads after it.
  file(CONFIGURE OUTPUT ${name}_properties.cmake @ONLY CONTENT [[
if(@name@_TESTS)
  set_tests_properties(${@name@_TESTS} PROPERTIES
    LABELS "unit;@ARG_LABELS@" ENVIRONMENT_MODIFICATION "@TESTLOG_SCRUBBED_ENVIRONMENT@")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
endfunction()

set(TESTLOG_SCRUBBED_ENVIRONMENT NO_COLOR=unset: CLICOLOR_FORCE=unset: CI=unset: TRACEPARENT=unset: CUDA_LAUNCH_BLOCKING=unset:)
foreach(variable IN ITEMS
  FILTER SHOW CAPTURE FORMAT SPAN_EVENTS TIME COLOR OUTPUT PROFILE PERF PERF_THRESHOLD_US PERF_JSON PERF_PROM NVTX CHROME
  PERFETTO FLAME SPDLOG CUDA_HEALTH XPLANE OTLP RECORD REDACT HANG_AFTER)
  list(APPEND TESTLOG_SCRUBBED_ENVIRONMENT TRACE_${variable}=unset:)
endforeach()
