# testlog_library(<name> ALIAS <ns::name> [SHARED|STATIC|OBJECT|INTERFACE] [DEPS <public>...] [PRIVATE_DEPS <private>...])
#
# Makes one of the project's libraries: the target, its alias, C++20, private warnings, position-independent code, the
# header set (`HEADERS`) that install puts where the tree has it, and its place in the package's export set (the namespace
# of its alias: `tracing::core` is `tracing::core` to every user, installed or not). Sources and headers are added by each
# folder with testlog_sources().
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
  set(public PUBLIC)
  if(kind STREQUAL "INTERFACE")
    set(public INTERFACE)
  endif()
  add_library(${name} ${kind})
  add_library(${ARG_ALIAS} ALIAS ${name})
  string(REGEX MATCH "^(.+)::(.+)$" unused ${ARG_ALIAS})
  set(namespace ${CMAKE_MATCH_1})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${CMAKE_MATCH_2} POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN")
  # Side by side and found by $ORIGIN, in the build tree as installed: each further folder that the loader has to search
  # costs a process some forty attempts. (A path of the build tree that an install is to change ends in a colon with CMake,
  # which has the loader search the current folder, too.) A parent project may build what we link somewhere else.
  set_target_properties(${name} PROPERTIES BUILD_WITH_INSTALL_RPATH ${PROJECT_IS_TOP_LEVEL}
    INSTALL_RPATH_USE_LINK_PATH ${PROJECT_IS_TOP_LEVEL})
  if(NOT CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  endif()
  if(NOT kind STREQUAL "INTERFACE")
    # Whatever a parent project hides, these are the names that its parts share.
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET default)
  endif()
  target_compile_features(${name} ${public} cxx_std_20)
  target_link_libraries(${name} ${public} ${ARG_DEPS})
  if(NOT kind STREQUAL "INTERFACE")
    target_link_libraries(${name} PRIVATE ${ARG_PRIVATE_DEPS})
    testlog_warnings(${name})
    testlog_direct_calls(${name})
  endif()
  target_sources(${name} ${public} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR})
  set_property(GLOBAL APPEND PROPERTY TESTLOG_LIBRARIES ${name})
  if(TESTLOG_INSTALL)
    install(TARGETS ${name} EXPORT ${namespace}-targets FILE_SET HEADERS OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/testlog)
    get_property(components GLOBAL PROPERTY TESTLOG_COMPONENTS)
    if(NOT namespace IN_LIST components)
      set_property(GLOBAL APPEND PROPERTY TESTLOG_COMPONENTS ${namespace})
    endif()
  endif()
endfunction()

function(testlog_sources name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES" ${ARGN})
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_sources(${name} INTERFACE FILE_SET HEADERS FILES ${ARG_HEADERS})
  else()
    target_sources(${name} PRIVATE ${ARG_SOURCES} PUBLIC FILE_SET HEADERS FILES ${ARG_HEADERS})
  endif()
endfunction()

# A library's calls to itself are direct, and its thread-local state is found without a call: both stand on the path that
# every record takes. The thread-local state is a few words, which the loader's reserve holds also for libraries that are
# opened later.
function(testlog_direct_calls name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ftls-model=initial-exec -fno-semantic-interposition -fvisibility-inlines-hidden>)
  target_link_options(${name} PRIVATE -Wl,-Bsymbolic-functions)
endfunction()

# Warnings are ours alone: nothing is passed on to those who link us.
function(testlog_warnings name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wextra-semi -Werror=return-type>)
endfunction()
