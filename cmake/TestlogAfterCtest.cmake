# Lets ctest end with a summary of the tests that failed: testlog_after_ctest(<folder of recordings>)
#
# At its end, ctest runs the commands that the file CTestCustom.cmake in its build folder names. Adds a script to them that runs
# `testlog summary` once, for all folders. If the project has such a file, its text is kept, and gets one more line. ctest runs the
# commands also after it has only listed tests; then, and if all tests passed, `testlog summary` prints nothing. The script never fails, because ctest would
# fail with it: not even if the program is gone, or is for another machine. There is no summary with TESTLOG_AFTER_CTEST=OFF, without
# the program `testlog`, when cross-compiling without an emulator, and if the path of the build folder has a semicolon, which
# CMake's lists would split. A project that makes CTestCustom.cmake by file(GENERATE) replaces the file that has our line; it can
# write include(<build>/Testing/after_ctest/include.cmake OPTIONAL) into its own.

option(TESTLOG_AFTER_CTEST "ctest ends with a summary of the tests that failed" ON)

function(testlog_after_ctest folder)
  set(place "${CMAKE_BINARY_DIR}/Testing/after_ctest")
  get_property(folders GLOBAL PROPERTY TESTLOG_RECORD_FOLDERS)
  if(NOT folders)
    file(REMOVE_RECURSE "${place}")  # what an earlier configuration has left
  endif()
  if(NOT TESTLOG_AFTER_CTEST OR folder IN_LIST folders)
    return()
  endif()
  if("${place}" MATCHES ";")
    testlog_no_summary("the path of the build folder has a semicolon")
    return()
  endif()
  # Imported targets may be known in this directory only.
  if(TARGET testlog::command)
    set(command "$<TARGET_FILE:testlog::command>")
  elseif(EXISTS "${testlog_COMMAND}")
    set(command "${testlog_COMMAND}")
  else()
    return()
  endif()
  set(emulator "")
  if(CMAKE_CROSSCOMPILING)
    if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
      testlog_no_summary("programs for ${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR} need CMAKE_CROSSCOMPILING_EMULATOR here")
      return()
    endif()
    list(TRANSFORM CMAKE_CROSSCOMPILING_EMULATOR REPLACE "(.+)" "'\\1' " OUTPUT_VARIABLE emulator)
    list(JOIN emulator "" emulator)
  endif()
  set_property(GLOBAL APPEND PROPERTY TESTLOG_RECORD_FOLDERS "${folder}")
  string(REPLACE "'" "'\\''" quoted "${folder}")
  file(APPEND "${place}/folders.sh" "set -- \"$@\" '${quoted}'\n")
  if(folders)
    return()
  endif()
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL testlog_write_ctest_custom)  # after the project's own file
  set(script "Testing/after_ctest/summary-$<CONFIG>.sh")  # ctest runs it in the build folder, whose path may have spaces
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/${script}" CONTENT
"if [ -r Testing/after_ctest/folders.sh ]; then
  . Testing/after_ctest/folders.sh
  ${emulator}'${command}' summary --after-ctest \"$@\"
fi
exit 0
")
  file(GENERATE OUTPUT "${place}/summary-$<CONFIG>.cmake" CONTENT
"if(NOT TESTLOG_SUMS_UP AND EXISTS [==[${command}]==] AND NOT [==[${command}]==] MATCHES \"'\")
  set(TESTLOG_SUMS_UP ON)
  list(APPEND CTEST_CUSTOM_POST_TEST \"/bin/sh ${script}\")
endif()
")
endfunction()

# Says once why ctest will print no summary.
function(testlog_no_summary reason)
  get_property(said GLOBAL PROPERTY TESTLOG_NO_SUMMARY)
  if(NOT said)
    set_property(GLOBAL PROPERTY TESTLOG_NO_SUMMARY ON)
    message(STATUS "ctest will not sum up failed tests: ${reason}; `testlog summary` does")
  endif()
endfunction()

# Replaces the file, because it may be a link to a file of the source folder, or not writable.
function(testlog_write_ctest_custom)
  set(file "${CMAKE_BINARY_DIR}/CTestCustom.cmake")
  set(includes "${CMAKE_BINARY_DIR}/Testing/after_ctest/include.cmake")
  file(WRITE "${includes}" "file(GLOB hooks \"\${CMAKE_CURRENT_LIST_DIR}/*-*.cmake\")
foreach(hook IN LISTS hooks)
  include(\"\${hook}\")
endforeach()
")
  set(line "include(\"${includes}\" OPTIONAL)  # of testlog\n")
  set(text "")
  if(EXISTS "${file}")
    file(READ "${file}" text)
  endif()
  string(FIND "${text}" "${line}" at)
  if(at EQUAL -1)
    if(NOT text MATCHES "(^|\n)$")
      string(APPEND text "\n")
    endif()
    file(WRITE "${file}.new" "${text}${line}")
    file(RENAME "${file}.new" "${file}")
  endif()
endfunction()
