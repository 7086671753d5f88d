# testlog_unit_test(<name> SOURCES <file>... [DEPS <target>...] [LABELS <label>...] [SHARDS <n>] [THREADS])
#
# A GoogleTest program of the project's own tests, with gtest_main and gmock, run without the variables that testlog
# reads: such tests compare output or run programs, and a developer's shell must not change a result. TESTLOG_TEST_DIR is the
# folder of its sources, where approved files are kept. THREADS marks programs whose tests have threads of interest to ThreadSanitizer: the target
# tests_with_threads builds them and `ctest -L threads` runs them. SHARDS is the number of processes that run the program
# with TESTLOG_TEST_PROGRAMS.
#
# testlog_test_sources(<target>)
#
# Compiles a target as sources of tests are: with TESTLOG_TEST_OPTIONS, our warnings, and the precompiled headers.
#
# testlog_run_tests(<target> [SHARDS <n>] [LABELS <label>...] [FILTER <filter>] [SUFFIX <suffix>] [SCRUBBED])
#
# Makes the tests of a GoogleTest program tests of CTest: each one, or with TESTLOG_TEST_PROGRAMS the program as such. They obey
# the environment, unless SCRUBBED removes the variables that testlog reads.

set(TESTLOG_TEST_OPTIONS "-O0" CACHE STRING "Further compiler options for the sources of tests")
option(TESTLOG_TEST_PROGRAMS "Run each test program as one CTest test, instead of each test in a process of its own" OFF)

# Compiled once for all tests: the headers that most of them include. Not through ccache, which reuses more of sources that
# are compiled alone, nor optimised, where GCC 12 warns of errors in these headers that it sees nowhere else.
set(precompile OFF)
if("${TESTLOG_TEST_OPTIONS}" MATCHES "-O0" AND NOT "${CMAKE_CXX_COMPILER_LAUNCHER}" MATCHES "ccache")
  set(precompile ON)
endif()
option(TESTLOG_PRECOMPILE_TESTS "Compile the headers that most tests include once" ${precompile})

if(TESTLOG_BUILD_TESTS)
  add_custom_target(tests_with_threads)
endif()

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

function(testlog_test_sources name)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE ${TESTLOG_TEST_OPTIONS})
  testlog_warnings(${name})
  if(TESTLOG_PRECOMPILE_TESTS AND TESTLOG_BUILD_TESTS)
    testlog_precompiled_tests()
    target_precompile_headers(${name} REUSE_FROM testlog_precompiled_tests)
    # GCC takes the precompiled headers only with the definitions that they were compiled with.
    target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
  endif()
endfunction()

function(testlog_run_tests name)
  cmake_parse_arguments(ARG "SCRUBBED" "SHARDS;FILTER;SUFFIX" "LABELS" ${ARGN})
  if(NOT ARG_FILTER)
    set(ARG_FILTER *)
  endif()
  set(environment "")
  set(scrub "")
  if(ARG_SCRUBBED)
    set(environment ${TESTLOG_SCRUBBED_ENVIRONMENT})
    set(scrub "ENVIRONMENT_MODIFICATION \"${environment}\"")
  endif()
  if(NOT TESTLOG_TEST_PROGRAMS)
    set(list ${name}${ARG_SUFFIX}_TESTS)
    # GoogleTest's numbers: values have characters that a list of CMake cannot hold, and the list is used below.
    testlog_discover_tests(${name} NO_PRETTY_TYPES NO_PRETTY_VALUES TEST_FILTER ${ARG_FILTER} TEST_LIST ${list} DISCOVERY_TIMEOUT 60)
    # gtest_discover_tests() flattens properties that are lists, so they are set by a script that ctest reads after it.
    file(CONFIGURE OUTPUT ${name}${ARG_SUFFIX}_properties.cmake @ONLY CONTENT [[
if(@list@)
  set_tests_properties(${@list@} PROPERTIES LABELS "@ARG_LABELS@" @scrub@)
endif()
]])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}${ARG_SUFFIX}_properties.cmake)
    return()
  endif()
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    math(EXPR index "${shard} - 1")
    set(of_shard ${environment} GTEST_TOTAL_SHARDS=set:${ARG_SHARDS} GTEST_SHARD_INDEX=set:${index})
    add_test(NAME ${name}${ARG_SUFFIX}.${shard} COMMAND ${name} --gtest_brief=1 --gtest_filter=${ARG_FILTER})
    set_tests_properties(${name}${ARG_SUFFIX}.${shard} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 900
      ENVIRONMENT_MODIFICATION "${of_shard}")
  endforeach()
endfunction()

function(testlog_unit_test name)
  if(NOT TESTLOG_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "THREADS" "SHARDS" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TESTLOG_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  testlog_test_sources(${name})
  list(PREPEND ARG_LABELS unit)
  if(ARG_THREADS)
    list(APPEND ARG_LABELS threads)
    add_dependencies(tests_with_threads ${name})
  endif()
  testlog_run_tests(${name} SHARDS ${ARG_SHARDS} LABELS ${ARG_LABELS} SCRUBBED)
endfunction()

# Every variable that testlog reads, and those of others that change what tests print.
set(TESTLOG_SCRUBBED_ENVIRONMENT CI=unset: TRACEPARENT=unset: CUDA_LAUNCH_BLOCKING=unset: GITHUB_ACTIONS=unset: GITLAB_CI=unset:
  TF_BUILD=unset: BUILDKITE=unset: TEAMCITY_VERSION=unset: JENKINS_URL=unset: TEST_TARGET=unset: TEST_UNDECLARED_OUTPUTS_DIR=unset:)
set(variables ${CMAKE_CURRENT_LIST_DIR}/../tracing_core/environment/variables.inc
  ${CMAKE_CURRENT_LIST_DIR}/../testlog/variables.inc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${variables})
foreach(table IN LISTS variables)
  file(STRINGS ${table} rows REGEX "^TESTLOG_VARIABLE")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "[(]([A-Z_]+)" name "${row}")
    list(APPEND TESTLOG_SCRUBBED_ENVIRONMENT ${CMAKE_MATCH_1}=unset:)
  endforeach()
endforeach()
