# testlog_dependency(<package> TARGET <imported target> DEBIAN <apt package> FOR "<what needs it>" [COMPONENT <name>])
#
# Finds a package that we need, or stops with a sentence that says what is missing, who wants it and how to get it. A
# target that a parent project already brought wins. COMPONENT (tracing or testlog) is the part of our own package whose
# users need it too: the package config then looks for it on their machine.
#
# testlog_re2(<out variable>)
#
# Finds RE2 by its own package config or by pkg-config, whichever the system has, and gives the target to link.
#
# testlog_zlib(<out variable>)
#
# Gives zlib's target; nothing, with a message, if the system has none: then files that end in .gz cannot be written or read.
#
# testlog_httplib(<out variable>)
#
# Gives the target of cpp-httplib; nothing, with a message, if the system has none: then nothing can be sent by HTTP.
#
# testlog_decompression(<out variable> MODULE <name for pkg-config> DEBIAN <apt package> WITHOUT <what is left out>)
#
# Gives the target of a library that decompresses PTX in fat binaries; nothing, with a message, if the system has none.
#
# testlog_portable_dependencies()
#
# Links fmt and spdlog by their headers and RE2 from its archive: what is linked then needs the C library alone.

function(testlog_portable_dependencies)
  foreach(target IN ITEMS fmt::fmt-header-only spdlog::spdlog_header_only)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "TESTLOG_PORTABLE_PROGRAMS needs the target ${target}, which this package lacks.")
    endif()
  endforeach()
  find_package(Threads REQUIRED)
  set_target_properties(spdlog::spdlog_header_only PROPERTIES INTERFACE_LINK_LIBRARIES "Threads::Threads;fmt::fmt-header-only")
  find_library(TESTLOG_RE2_ARCHIVE libre2.a)
  if(NOT TESTLOG_RE2_ARCHIVE)
    testlog_missing("libre2.a" "libre2-dev" "programs that can be copied to another machine")
  endif()
  set(TESTLOG_FMT fmt::fmt-header-only PARENT_SCOPE)
  set(TESTLOG_SPDLOG spdlog::spdlog_header_only PARENT_SCOPE)
  set(TESTLOG_RE2 ${TESTLOG_RE2_ARCHIVE} PARENT_SCOPE)
endfunction()

# Finds a package whose targets the whole project sees, as find_package(GLOBAL) of CMake 3.24 does.
function(testlog_find package)
  find_package(${package} QUIET)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  set_property(TARGET ${targets} PROPERTY IMPORTED_GLOBAL TRUE)
endfunction()

function(testlog_dependency package)
  cmake_parse_arguments(ARG "" "TARGET;DEBIAN;FOR;COMPONENT" "" ${ARGN})
  if(NOT TARGET ${ARG_TARGET})
    testlog_find(${package})
    if(NOT TARGET ${ARG_TARGET})
      testlog_missing(${package} ${ARG_DEBIAN} "${ARG_FOR}")
    endif()
  endif()
  if(ARG_COMPONENT)
    set_property(GLOBAL APPEND PROPERTY TESTLOG_${ARG_COMPONENT}_DEPENDENCIES "find_dependency(${package})")
  endif()
endfunction()

function(testlog_re2 out)
  set(${out} re2::re2 PARENT_SCOPE)
  set(lookup "find_dependency(re2)")
  if(NOT TARGET re2::re2)
    testlog_find(re2)
    if(NOT TARGET re2::re2)
      find_package(PkgConfig QUIET)
      if(PkgConfig_FOUND)
        pkg_check_modules(re2 QUIET IMPORTED_TARGET GLOBAL re2)
      endif()
      if(NOT TARGET PkgConfig::re2)
        testlog_missing("RE2 (its package config, or pkg-config and re2.pc)" "libre2-dev pkg-config" "patterns in filters")
      endif()
      set(${out} PkgConfig::re2 PARENT_SCOPE)
      set(lookup "find_dependency(PkgConfig)\npkg_check_modules(re2 REQUIRED QUIET IMPORTED_TARGET GLOBAL re2)")
    endif()
  endif()
  # A shared library keeps RE2 to itself; the users of a static one must link it.
  if(NOT BUILD_SHARED_LIBS)
    set_property(GLOBAL APPEND PROPERTY TESTLOG_tracing_DEPENDENCIES "${lookup}")
  endif()
endfunction()

function(testlog_httplib out)
  if(TESTLOG_PORTABLE_PROGRAMS)
    return()
  endif()
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(cpp_httplib QUIET IMPORTED_TARGET cpp-httplib)
  endif()
  if(NOT TARGET PkgConfig::cpp_httplib)
    message(STATUS "No cpp-httplib here (Debian: libcpp-httplib-dev): `testlog export` cannot send to a receiver of OpenTelemetry.")
    return()
  endif()
  set(${out} PkgConfig::cpp_httplib PARENT_SCOPE)
endfunction()

function(testlog_zlib out)
  testlog_find(ZLIB)
  if(NOT TARGET ZLIB::ZLIB)
    message(STATUS "No zlib here (Debian: zlib1g-dev): traces and recordings cannot be compressed.")
    return()
  endif()
  set(${out} ZLIB::ZLIB PARENT_SCOPE)
  if(NOT BUILD_SHARED_LIBS)
    set_property(GLOBAL APPEND PROPERTY TESTLOG_tracing_DEPENDENCIES "find_dependency(ZLIB)")
  endif()
endfunction()

function(testlog_decompression out)
  cmake_parse_arguments(ARG "" "MODULE;DEBIAN;WITHOUT" "" ${ARGN})
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(${ARG_MODULE} QUIET IMPORTED_TARGET GLOBAL ${ARG_MODULE})
  endif()
  if(NOT TARGET PkgConfig::${ARG_MODULE})
    message(STATUS "No ${ARG_MODULE} here (Debian: ${ARG_DEBIAN} and pkg-config): ${ARG_WITHOUT}.")
    return()
  endif()
  set(${out} PkgConfig::${ARG_MODULE} PARENT_SCOPE)
  # What needs it is a static library.
  set_property(GLOBAL APPEND PROPERTY TESTLOG_cuda_cpu_DEPENDENCIES
    "find_dependency(PkgConfig)\npkg_check_modules(${ARG_MODULE} REQUIRED QUIET IMPORTED_TARGET GLOBAL ${ARG_MODULE})")
endfunction()

function(testlog_missing package debian for)
  message(FATAL_ERROR "testlog needs ${package} for ${for}, and it was not found.\n"
    "Debian and Ubuntu: apt-get install ${debian} (or run tools/setup.sh; for the benchmarks: tools/setup.sh bench).\n"
    "Elsewhere: install it and add its prefix to CMAKE_PREFIX_PATH.")
endfunction()
