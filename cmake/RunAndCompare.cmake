# Implements testlog_output_test(). Everything that differs from run to run is replaced by a constant: times, durations,
# addresses, process and thread ids, the build and source folders. Simulated times do not differ. With WRITES, the pattern of a file's name, the content of
# that file is appended to what was printed.

if(WRITES)
  file(GLOB earlier ${WRITES})
  foreach(file IN LISTS earlier)
    file(REMOVE ${file})
  endforeach()
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE result)
if("${RESULT}" STREQUAL "")
  set(RESULT 0)
endif()
if(NOT result EQUAL RESULT)
  message(FATAL_ERROR "${PROGRAM} ended with ${result}, not ${RESULT}, and printed:\n${printed}")
endif()

if(WRITES)
  file(GLOB written ${WRITES})
  file(READ "${written}" text)
  string(APPEND printed "${text}")
  if(WRITES MATCHES "json$")
    string(JSON ignored ERROR_VARIABLE error TYPE "${text}")
    if(error)
      message(FATAL_ERROR "${written} is not valid JSON: ${error}")
    endif()
  endif()
endif()

foreach(folder IN LISTS FOLDERS)
  string(REPLACE "${folder}/" "" printed "${printed}")
endforeach()
string(REGEX REPLACE "(\\.\\./)+" "" printed "${printed}")  # as the compiler was given it
if(NOT DEFINED ENV{EXAMPLE_SIMULATED_TIME})
  set(digits4 "[0-9][0-9][0-9][0-9]")
  string(REGEX REPLACE "${digits4}-[0-9][0-9]-[0-9][0-9]T[0-9:]+\\.[0-9]+Z" "2026-01-08T23:56:09.977977Z" printed "${printed}")
  string(REGEX REPLACE "\n *\\+[0-9]+\\.[0-9][0-9][0-9] ms " "\n  +0.083 ms " printed "${printed}")  # of failure reports
  string(REGEX REPLACE "(after_us|duration_us|gb_per_s)=[0-9.e+-]+" "\\1=83" printed "${printed}")
  string(REGEX REPLACE "(loaded|compiled|duration_us=83) duration_ms=[0-9.]+" "\\1 duration_ms=0.083" printed "${printed}")
endif()
# Of a program that nvcc compiled, its version decides.
if(printed MATCHES "module_load{module=\"[^.\"]+\" ")
  string(REGEX REPLACE "(module_load{module=[^ ]+ bytes|found kernel [^\n]*registers)=[0-9]+" "\\1=83" printed "${printed}")
endif()
string(REGEX REPLACE "0x[0-9a-f]+" "0x7ffd5c0a" printed "${printed}")
# Chrome traces.
string(REGEX REPLACE "\"pid\":[0-9]+" "\"pid\":4711" printed "${printed}")
string(REGEX REPLACE "\"tid\":[0-9]+" "\"tid\":4711" printed "${printed}")
# GoogleTest's own lines.
string(REGEX REPLACE "\\([0-9]+ ms" "(0 ms" printed "${printed}")
string(REGEX REPLACE "Running main\\(\\) from[^\n]*\n" "" printed "${printed}")

if("$ENV{TESTLOG_APPROVE}" STREQUAL "1")
  file(WRITE ${APPROVED} "${printed}")
  return()
endif()
set(approved "")
if(EXISTS ${APPROVED})
  file(READ ${APPROVED} approved)
endif()
if(NOT "${printed}" STREQUAL "${approved}")
  get_filename_component(name ${APPROVED} NAME_WE)
  set(actual ${CMAKE_CURRENT_BINARY_DIR}/${name}.actual.txt)
  file(WRITE ${actual} "${printed}")
  execute_process(COMMAND diff -u ${APPROVED} ${actual} OUTPUT_VARIABLE difference)
  message(FATAL_ERROR "The output of ${name} differs from ${APPROVED}:\n${difference}\n"
    "If the new text is right: TESTLOG_APPROVE=1 ctest -R ${name}")
endif()
