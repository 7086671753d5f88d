# The part that both consumer projects share, once they have the targets.
include(CTest)
set(sources ${CMAKE_CURRENT_LIST_DIR})

add_executable(instrumented ${sources}/instrumented.cc)
target_link_libraries(instrumented PRIVATE tracing::core)
add_test(NAME instrumented COMMAND instrumented)

add_executable(collecting ${sources}/collecting.cc)
target_link_libraries(collecting PRIVATE tracing::subscriber)
add_test(NAME collecting COMMAND collecting)

add_executable(profiling ${sources}/profiling.cc)
target_link_libraries(profiling PRIVATE tracing::profile)
add_test(NAME profiling COMMAND profiling)

if(TARGET testlog::nvtx)
  add_executable(nvtx ${sources}/nvtx.cc)
  target_link_libraries(nvtx PRIVATE testlog::main testlog::nvtx)
  add_test(NAME nvtx COMMAND nvtx)
  set_tests_properties(nvtx PROPERTIES ENVIRONMENT TRACE_NVTX=out
    PASS_REGULAR_EXPRESSION "TRACE_NVTX=out: no NVTX tool" FAIL_REGULAR_EXPRESSION "FAILED")
endif()

if(TARGET testlog::command)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/run.folded "main;work 1\n")
  add_test(NAME command COMMAND testlog::command flame ${CMAKE_CURRENT_BINARY_DIR}/run.folded)
endif()

if(TARGET GTest::gtest_main)
  add_executable(testing ${sources}/testing.cc)
  target_link_libraries(testing PRIVATE tracing::core GTest::gtest_main)
  testlog_discover_tests(testing TEST_FILTER *Levels TEST_PREFIX "prefixed." PROPERTIES TIMEOUT 30)
  testlog_discover_tests(testing TEST_FILTER *InTheBuildFolder TEST_LIST of_default)
  testlog_discover_tests(testing TEST_FILTER *InAnotherFolder RECORD mine TEST_LIST elsewhere PROPERTIES ENVIRONMENT X=1)
  testlog_discover_tests(testing TEST_FILTER *ByPrefix TEST_PREFIX gpu/ TEST_SUFFIX .2 TEST_LIST prefixed)
  testlog_discover_tests(testing TEST_FILTER *AsAValue TEST_PREFIX RECORD EXTRA_ARGS --mode RECORD TEST_LIST words
    PROPERTIES LABELS RECORD RECORD mine)
  testlog_discover_tests(testing TEST_FILTER *NearlyOver TEST_LIST timed PROPERTIES TIMEOUT 12)
  testlog_discover_tests(testing TEST_FILTER *Nowhere RECORD OFF TEST_LIST nowhere)
  testlog_discover_tests(testing TEST_FILTER *ConsumerOfWords* TEST_LIST of_words)
  testlog_add_test(NAME whole.program COMMAND testing --gtest_filter=*WholeProgram TIMEOUT 12)
  testlog_add_test(NAME whole/elsewhere COMMAND testing "--gtest_filter=*OfAProgramElsewhere;" RECORD mine WORKING_DIRECTORY ..)
  testlog_add_test(NAME whole_nowhere COMMAND testing --gtest_filter=*Nowhere RECORD OFF)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/names.cmake [[
set(expected "Given/ConsumerOfWords.HasItsValue/\"two words\"")
if(CMAKE_VERSION VERSION_LESS 3.23)  # CTest's own function drops the blanks, too
  string(REPLACE " " "" expected "${expected}")
endif()
if(of_words AND NOT of_words STREQUAL expected)
  add_test("the name is ${of_words}" false)
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/names.cmake)
endif()
