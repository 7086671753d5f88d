# testlog_library(<name> ALIAS <ns::name> [SHARED|STATIC|OBJECT|INTERFACE] [DEPS <public>...] [PRIVATE_DEPS <private>...])
#
# Makes one of the project's libraries: the target, its alias, C++20, private warnings, position-independent code, the
# header set (`HEADERS`) that install puts where the tree has it, and its place in the package's export set. Sources and
# headers are added by each folder with testlog_sources().
#
# testlog_sources(<name> [HEADERS <public>...] [SOURCES <private>...])
#
# Adds files of the calling folder to a library made by testlog_library(). HEADERS are installed; SOURCES may hold
# private headers too.

function(testlog_library name)
  cmake_parse_arguments(ARG "SHARED;STATIC;OBJECT;INTERFACE" "ALIAS" "DEPS;PRIVATE_DEPS" ${ARGN})
  set(kind "")
  foreach(candidate IN ITEMS SHARED STATIC OBJECT INTERFACE)
    if(ARG_${candidate})
      set(kind ${candidate})
    endif()
  endforeach()
  add_library(${name} ${kind})
  add_library(${ARG_ALIAS} ALIAS ${name})
  string(REGEX REPLACE "^.*::" "" export_name ${ARG_ALIAS})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${ARG_ALIAS} POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  testlog_warnings(${name})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR})
  if(TESTLOG_INSTALL)
    install(TARGETS ${name} EXPORT testlog-targets FILE_SET HEADERS)
  endif()
endfunction()

function(testlog_sources name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES" ${ARGN})
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${name} PRIVATE ${ARG_SOURCES} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
endfunction()

# Warnings are ours alone: nothing is passed on to those who link us.
function(testlog_warnings name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wextra-semi -Werror=return-type>)
endfunction()
