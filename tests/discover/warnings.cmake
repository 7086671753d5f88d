# Configures the project in testing/ in a build below FOLDER for each place of enable_testing(), and checks which folders are warned of.
cmake_policy(VERSION 3.22)
file(REMOVE_RECURSE ${FOLDER})
set(source ${CMAKE_CURRENT_LIST_DIR}/testing)
foreach(row IN ITEMS
    "top|"
    "sub|${source}"
    "late|${source}/tests"
    "nowhere|${source}/tests|${source}"
    "nowhere -DBUILD_TESTING=ON|${source}/tests|${source}"
    "nowhere -DBUILD_TESTING=OFF|")
  string(REPLACE "|" ";" row "${row}")
  list(POP_FRONT row where)
  separate_arguments(arguments UNIX_COMMAND "-DWHERE=${where}")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${FOLDER}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_WORKS=ON ${arguments}
    OUTPUT_QUIET ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${FOLDER}/build)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake breaks its lines
  string(REGEX MATCHALL "testing is not enabled in [^ ]+\\. Call enable_testing" warnings "${said}")
  set(folders "")
  foreach(warning IN LISTS warnings)
    string(REGEX REPLACE "testing is not enabled in (.+)\\. Call enable_testing" "\\1" folder "${warning}")
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_ITEM row "")
  if(NOT folders STREQUAL row)
    message(FATAL_ERROR "enable_testing() ${where}: warnings of '${folders}', expected '${row}', in:\n${said}")
  endif()
endforeach()
