# testlog_discover_tests(<target> [RECORD <folder>|OFF] [any argument of gtest_discover_tests()...])
#
# Adds each test of a GoogleTest program to CTest as gtest_discover_tests() does, by the same name. Each test keeps a recording in
# <folder>, by default ${CMAKE_BINARY_DIR}/Testing/Temporary/testlog, and removes it if it passes; TRACE_RECORD, if it is set, decides
# instead. A recording is `<program>.<TEST_PREFIX><test><TEST_SUFFIX>.rec`; a hash follows the program if it has arguments of its own,
# and the test if it has a prefix or suffix, so that no test replaces the recording of another one. The program fills in its name, by
# %e, because CTest gives tests of one name, as two programs may have them, the properties of the last.
# RECORD OFF keeps none. Where recordings are, ctest ends with a summary: see TestlogAfterCtest.cmake. The word RECORD is ours where gtest_discover_tests() expects a keyword or the name of a property; as a value,
# and anywhere in EXTRA_ARGS, it is passed on. After PROPERTIES TIMEOUT <seconds> a test that does not end says
# what its threads are doing when four fifths of the time are over; one without TIMEOUT says after a minute where its recording is,
# and if CI is set what its threads are doing. From CMake 3.27 on CTest ends each test by SIGTERM first. All this is passed in the
# test properties ENVIRONMENT and ENVIRONMENT_MODIFICATION: PROPERTIES that set them as well replace them.

function(testlog_discover_tests target)
  # Included here since the module sets a variable that a parent project would not see.
  include(GoogleTest)
  set(folder "${CMAKE_BINARY_DIR}/Testing/Temporary/testlog")
  # A plain ${ARGN} would split arguments that contain semicolons.
  set(arguments "")
  set(is_folder OFF)
  set(keyword "")      # of gtest_discover_tests() whose values follow; empty once it has the one that it takes
  set(property "")     # of PROPERTIES, whose value follows
  set(value_of_TIMEOUT "")
  set(value_of_TEST_PREFIX "")
  set(value_of_TEST_SUFFIX "")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    if(i GREATER last)
      break()
    endif()
    if(is_folder)
      set(folder "${ARGV${i}}")
      set(is_folder OFF)
      continue()
    elseif("${ARGV${i}}" STREQUAL "RECORD" AND ("${keyword}" STREQUAL "" OR ("${keyword}" STREQUAL "PROPERTIES" AND "${property}" STREQUAL "")))
      set(is_folder ON)
      continue()
    elseif("${ARGV${i}}" MATCHES "^NO_PRETTY_(TYPES|VALUES)$")
      set(keyword "")  # an option, which has no values
    elseif("${ARGV${i}}" MATCHES "^(TEST_PREFIX|TEST_SUFFIX|TEST_FILTER|TEST_LIST|WORKING_DIRECTORY|XML_OUTPUT_DIR|DISCOVERY_TIMEOUT|DISCOVERY_MODE|EXTRA_ARGS|DISCOVERY_EXTRA_ARGS|PROPERTIES)$")
      set(keyword "${ARGV${i}}")
      set(property "")
    elseif("${keyword}" STREQUAL "PROPERTIES" AND "${property}" STREQUAL "")
      set(property "${ARGV${i}}")
    elseif("${keyword}" STREQUAL "PROPERTIES")
      if("${property}" STREQUAL "TIMEOUT")
        set(value_of_TIMEOUT "${ARGV${i}}")
      endif()
      set(property "")
    elseif(NOT "${keyword}" MATCHES "EXTRA_ARGS$")
      set(value_of_${keyword} "${ARGV${i}}")
      set(keyword "")
    endif()
    string(APPEND arguments " [==[${ARGV${i}}]==]")
  endforeach()
  if(is_folder)
    message(FATAL_ERROR "testlog_discover_tests(${target} ... RECORD): expected a folder or OFF after RECORD")
  endif()
  set(properties "")
  if(folder)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    testlog_after_ctest("${folder}")
    set(before "${value_of_TEST_PREFIX}")
    set(after "${value_of_TEST_SUFFIX}")
    if(NOT "${value_of_TEST_PREFIX}${value_of_TEST_SUFFIX}" STREQUAL "")
      # What is replaced and cut below is only in the hash.
      string(MD5 hash "${value_of_TEST_PREFIX}\n${value_of_TEST_SUFFIX}")
      string(SUBSTRING "${hash}" 0 8 hash)
      string(SUBSTRING "${before}" 0 50 before)
      string(SUBSTRING "${after}" 0 20 after)
      string(APPEND after "~${hash}")
    endif()
    string(REGEX REPLACE "[^A-Za-z0-9_.+~-]" "_" before "${before}")
    string(REGEX REPLACE "[^A-Za-z0-9_.+~-]" "_" after "${after}")
    set(name "%e.${before}%t${after}")
    string(APPEND properties " ENVIRONMENT_MODIFICATION [==[TRACE_RECORD_DEFAULT=set:${folder}/${name}.rec]==]")
  endif()
  if(value_of_TIMEOUT MATCHES "^[1-9][0-9]*")
    math(EXPR tenths "${CMAKE_MATCH_0} * 8")
    string(REGEX REPLACE "(.)$" ".\\1" hang_after "${tenths}")
    string(APPEND properties " ENVIRONMENT TRACE_HANG_AFTER_DEFAULT=${hang_after}")
  else()
    string(APPEND properties " ENVIRONMENT TRACE_LONG_AFTER=60")
  endif()
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.27 AND NOT WIN32)
    string(APPEND properties " TIMEOUT_SIGNAL_NAME SIGTERM")
  endif()
  if(properties)
    string(PREPEND properties "PROPERTIES")
  endif()
  cmake_language(EVAL CODE "gtest_discover_tests(${target} ${properties} ${arguments})")
endfunction()
