# testlog_discover_tests(<target> [RECORD <folder>|OFF] [any argument of gtest_discover_tests()...])
#
# Adds each test of a GoogleTest program to CTest. Each test keeps a recording in <folder>, by default
# ${CMAKE_BINARY_DIR}/Testing/Temporary/testlog, and removes it if it passes; TRACE_RECORD, if it is set, decides instead.
# RECORD OFF keeps none. The folder is passed by the test property ENVIRONMENT_MODIFICATION: PROPERTIES that set it as well
# replace it.

function(testlog_discover_tests target)
  # Included here since the module sets a variable that a parent project would not see.
  include(GoogleTest)
  set(folder "${CMAKE_BINARY_DIR}/Testing/Temporary/testlog")
  # A plain ${ARGN} would split arguments that contain semicolons.
  set(arguments "")
  set(is_folder OFF)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    if(i GREATER last)
      break()
    endif()
    if(is_folder)
      set(folder "${ARGV${i}}")
      set(is_folder OFF)
    elseif("${ARGV${i}}" STREQUAL "RECORD")
      set(is_folder ON)
    else()
      string(APPEND arguments " [==[${ARGV${i}}]==]")
    endif()
  endforeach()
  if(is_folder)
    message(FATAL_ERROR "testlog_discover_tests(${target} ... RECORD): expected a folder or OFF after RECORD")
  endif()
  set(record "")
  if(folder)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    set(record "PROPERTIES ENVIRONMENT_MODIFICATION [==[TRACE_RECORD_DEFAULT=set:${folder}]==]")
  endif()
  cmake_language(EVAL CODE "gtest_discover_tests(${target} ${record} ${arguments})")
endfunction()
