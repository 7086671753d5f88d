# testlog_unit_test(<name> SOURCES <file>... [DEPS <target>...] [LABELS <label>...])
#
# A GoogleTest program of the project's own tests, with gtest_main and gmock, discovered test by test, run with the
# environment scrubbed of every variable that we read, so that a developer's shell cannot change a result. TESTLOG_TEST_DIR
# is the folder of its sources, where approved files are kept.
#
# TESTLOG_TEST_OPTIONS are options for the sources of tests alone: -O0 where what is tested has to be fast, but the tests
# rather compiled soon. GoogleTest's headers are then compiled once for all of them, too (TESTLOG_PRECOMPILE_TESTS); not
# through ccache, which keeps more where each source is compiled by itself, nor optimised, where GCC 12 warns of errors in
# them that it sees nowhere else.

set(TESTLOG_TEST_OPTIONS "" CACHE STRING "Further options of the compiler for the sources of tests")
set(precompile OFF)
if(TESTLOG_TEST_OPTIONS MATCHES "-O0" AND NOT "${CMAKE_CXX_COMPILER_LAUNCHER}" MATCHES "ccache")
  set(precompile ON)
endif()
option(TESTLOG_PRECOMPILE_TESTS "Compile the headers that most tests include once" ${precompile})

function(testlog_precompiled_tests)
  if(TARGET testlog_precompiled_tests)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled_tests.cc CONTENT "")
  add_library(testlog_precompiled_tests OBJECT ${CMAKE_BINARY_DIR}/precompiled_tests.cc)
  target_link_libraries(testlog_precompiled_tests PRIVATE GTest::gmock GTest::gtest)
  target_compile_features(testlog_precompiled_tests PRIVATE cxx_std_20)
  target_compile_options(testlog_precompiled_tests PRIVATE ${TESTLOG_TEST_OPTIONS})
  testlog_warnings(testlog_precompiled_tests)
  target_precompile_headers(testlog_precompiled_tests PRIVATE
    <gmock/gmock.h> <gtest/gtest.h>
    <atomic> <chrono> <filesystem> <fstream> <functional> <memory> <mutex> <regex> <string> <thread> <vector>)
endfunction()

function(testlog_unit_test name)
  if(NOT TESTLOG_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TESTLOG_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${TESTLOG_TEST_OPTIONS})
  if(TESTLOG_PRECOMPILE_TESTS)
    testlog_precompiled_tests()
    target_precompile_headers(${name} REUSE_FROM testlog_precompiled_tests)
  endif()
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
