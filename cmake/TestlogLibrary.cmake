# testlog_library(<name> ALIAS <ns::name> [COMPONENT <component>] [SHARED|STATIC|OBJECT|INTERFACE] [DEPS <public>...]
#   [PRIVATE_DEPS <private>...])
#
# Makes one of the project's libraries: the target, its alias, C++20, private warnings, position-independent code, the
# its export set. A library has the same
# name for every user, installed or not. COMPONENT is the part of the package that it belongs to, by default its namespace.
# Each folder adds its sources and headers with testlog_sources().
#
# testlog_build_what_is_linked()
#
# Takes the libraries out of the target `all`, so that only those are built which something links.
#
# testlog_sources(<name> [HEADERS <public>...] [SOURCES <private>...])
#
# Adds files of the calling folder to such a library. TestlogInstall installs HEADERS under their paths in the source tree; SOURCES may
# include private headers.

function(testlog_library name)
  cmake_parse_arguments(ARG "SHARED;STATIC;OBJECT;INTERFACE" "ALIAS;COMPONENT" "DEPS;PRIVATE_DEPS" ${ARGN})
  set(kind "")
  foreach(candidate IN ITEMS SHARED STATIC OBJECT INTERFACE)
    if(ARG_${candidate})
      set(kind ${candidate})
    endif()
  endforeach()
  set(public PUBLIC)
  if(kind STREQUAL "INTERFACE")
    set(public INTERFACE)
  endif()
  add_library(${name} ${kind})
  add_library(${ARG_ALIAS} ALIAS ${name})
  string(REGEX MATCH "^(.+)::(.+)$" unused ${ARG_ALIAS})
  set(component ${CMAKE_MATCH_1})
  if(ARG_COMPONENT)
    set(component ${ARG_COMPONENT})
  endif()
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${CMAKE_MATCH_2} POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
  # All libraries are in one folder and find each other by $ORIGIN, in the build tree and installed: each further folder costs
  # the loader some forty attempts to open a file. A parent project may build our dependencies somewhere else.
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ${PROJECT_IS_TOP_LEVEL}
    INSTALL_RPATH_USE_LINK_PATH ${PROJECT_IS_TOP_LEVEL})
  if(NOT CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  endif()
  if(NOT kind STREQUAL "INTERFACE")
    # Visible even if a parent project hides symbols: several parts of a program share them.
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default)
  endif()
  target_compile_features(${name} ${public} cxx_std_20)
  target_link_libraries(${name} ${public} ${ARG_DEPS})
  if(NOT kind STREQUAL "INTERFACE")
    target_link_libraries(${name} PRIVATE ${ARG_PRIVATE_DEPS})
    testlog_warnings(${name})
    testlog_unity_build(${name})
    testlog_direct_calls(${name})
  endif()
  target_include_directories(${name} ${public}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(GLOBAL APPEND PROPERTY TESTLOG_LIBRARIES ${name})
  set_target_properties(${name} PROPERTIES TESTLOG_COMPONENT ${component} TESTLOG_HEADERS "")
endfunction()

# Compiles the sources of a library together if the option asks for it. REQUIRES: its warnings are set.
function(testlog_unity_build name)
  if(TESTLOG_UNITY_BUILD)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 64)
    # What only looks wrong where sources are included: names of others, and classes that are no longer in the main source.
    target_compile_options(${name} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

function(testlog_build_what_is_linked)
  get_property(libraries GLOBAL PROPERTY TESTLOG_LIBRARIES)
  set_target_properties(${libraries} PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()

function(testlog_sources name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES" ${ARGN})
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${name} PRIVATE ${ARG_SOURCES})
  set_property(TARGET ${name} APPEND PROPERTY TESTLOG_HEADERS ${ARG_HEADERS})
endfunction()

# A library calls itself directly and reads its thread-local state without a call, since both happen for every record. The
# thread-local state is a few words, for which the loader has room even if the library is opened at run time.
function(testlog_direct_calls name)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ftls-model=initial-exec -fvisibility-inlines-hidden>)
  # A program and its libraries that each link the static library have one state, since calls from one source to another reach the
  # first copy. In a unity build these would be calls within a source.
  if(BUILD_SHARED_LIBS OR NOT TESTLOG_UNITY_BUILD)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  endif()
  # It loads no library that it does not call, such as spdlog.
  set(instances ${PROJECT_SOURCE_DIR}/cmake/instances.map)
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic-functions -Wl,--as-needed -Wl,--version-script=${instances})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${instances})
endfunction()

# Warnings are private: users of the libraries do not inherit them.
function(testlog_warnings name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wextra-semi -Werror=return-type
      $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>>)
endfunction()
