# testlog_dependency(<package> TARGET <imported target> DEBIAN <apt package> FOR "<what needs it>" [COMPONENT <name>])
#
# Finds a package that we need, or stops with a sentence that says what is missing, who wants it and how to get it. A
# target that a parent project already brought wins. COMPONENT (tracing or testlog) is the part of our own package whose
# users need it too: the package config then looks for it on their machine.
#
# testlog_switch(<variable> "<what it adds>" [PART_OF <variable>...])
#
# Makes the switch of an optional dependency: AUTO, the default, uses it where it is found, ON stops where it is missing, OFF does not
# look for it. It is OFF if a variable that it is a part of is.
#
# testlog_not_found(<switch> <package> [DEBIAN <apt package>] WITHOUT <what is left out>)
#
# Says what is left out without an optional dependency, or stops if its switch is ON.
#
# testlog_re2(<out variable>)
#
# Finds RE2 by its own package config or by pkg-config, whichever the system has, and gives the target to link.
#
# testlog_zlib(<out variable>)
#
# Gives zlib's target; nothing if the system has none: then files that end in .gz cannot be written or read.
#
# testlog_httplib(<out variable>)
#
# Gives the target of cpp-httplib; nothing if the system has none: then nothing can be sent by HTTP.
#
# testlog_decompression(<out variable> SWITCH <variable> MODULE <name for pkg-config> DEBIAN <apt package> WITHOUT <what is left out>)
#
# Gives the target of a library that decompresses PTX in fat binaries; nothing if the system has none.
#
# testlog_cublas()
#
# Looks for what testlog::cublas_on_cpu needs, Eigen and the headers of cuBLAS, which some packages of the toolkit leave out. Sets
# TESTLOG_CUBLAS_INCLUDE_DIR.
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

function(testlog_switch variable what)
  cmake_parse_arguments(ARG "" "" "PART_OF" ${ARGN})
  set(${variable} AUTO CACHE STRING "${what}: AUTO where it can be built, ON always, OFF never")
  set_property(CACHE ${variable} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${variable} MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|1|0)$")
    message(FATAL_ERROR "${variable}=${${variable}}: unknown value; expected one of AUTO, ON, OFF")
  endif()
  foreach(whole IN LISTS ARG_PART_OF)
    if(${variable} STREQUAL "AUTO" AND NOT ${whole})
      set(${variable} OFF PARENT_SCOPE)
    elseif(${variable} AND NOT ${whole})
      message(FATAL_ERROR "${variable}=${${variable}} needs ${whole}, which is off or was not found.")
    endif()
  endforeach()
endfunction()

function(testlog_not_found switch package)
  cmake_parse_arguments(ARG "" "DEBIAN;WITHOUT" "" ${ARGN})
  set(debian "")
  if(ARG_DEBIAN)
    set(debian " (Debian: ${ARG_DEBIAN})")
  endif()
  if(${switch} STREQUAL "AUTO")
    message(STATUS "No ${package} here${debian}: ${ARG_WITHOUT}.")
  else()
    message(FATAL_ERROR "${switch}=${${switch}}, but ${package} was not found${debian}. With OFF, ${ARG_WITHOUT}.")
  endif()
endfunction()

function(testlog_httplib out)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(cpp_httplib QUIET IMPORTED_TARGET cpp-httplib)
  endif()
  if(TARGET PkgConfig::cpp_httplib)
    set(${out} PkgConfig::cpp_httplib PARENT_SCOPE)
    return()
  endif()
  testlog_find(httplib)  # vcpkg and Conan have this file alone
  if(TARGET httplib::httplib)
    set(${out} httplib::httplib PARENT_SCOPE)
  else()
    testlog_not_found(TESTLOG_WITH_HTTPLIB cpp-httplib DEBIAN libcpp-httplib-dev
      WITHOUT "`testlog export` cannot send to a receiver of OpenTelemetry")
  endif()
endfunction()

function(testlog_zlib out)
  testlog_find(ZLIB)
  if(NOT TARGET ZLIB::ZLIB)
    testlog_not_found(TESTLOG_WITH_ZLIB zlib DEBIAN zlib1g-dev WITHOUT "traces and recordings cannot be compressed")
    return()
  endif()
  set(${out} ZLIB::ZLIB PARENT_SCOPE)
  if(NOT BUILD_SHARED_LIBS)
    set_property(GLOBAL APPEND PROPERTY TESTLOG_tracing_DEPENDENCIES "find_dependency(ZLIB)")
  endif()
endfunction()

function(testlog_decompression out)
  cmake_parse_arguments(ARG "" "SWITCH;MODULE;DEBIAN;WITHOUT" "" ${ARGN})
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(${ARG_MODULE} QUIET IMPORTED_TARGET GLOBAL ${ARG_MODULE})
  endif()
  if(NOT TARGET PkgConfig::${ARG_MODULE})
    testlog_not_found(${ARG_SWITCH} ${ARG_MODULE} DEBIAN "${ARG_DEBIAN} pkg-config" WITHOUT "${ARG_WITHOUT}")
    return()
  endif()
  set(${out} PkgConfig::${ARG_MODULE} PARENT_SCOPE)
  # What needs it is a static library.
  set_property(GLOBAL APPEND PROPERTY TESTLOG_cuda_cpu_DEPENDENCIES
    "find_dependency(PkgConfig)\npkg_check_modules(${ARG_MODULE} REQUIRED QUIET IMPORTED_TARGET GLOBAL ${ARG_MODULE})")
endfunction()

function(testlog_cublas)
  find_package(Eigen3 3.3 QUIET NO_MODULE)
  find_path(TESTLOG_CUBLAS_INCLUDE_DIR cublasLt.h HINTS ${TESTLOG_CUDA_INCLUDE_DIR} NO_DEFAULT_PATH)
  set(without "testlog::cublas_on_cpu is left out, so programs cannot call cuBLAS without a GPU")
  if(NOT TARGET Eigen3::Eigen)
    testlog_not_found(TESTLOG_WITH_CUBLAS Eigen DEBIAN libeigen3-dev WITHOUT "${without}")
  elseif(NOT TESTLOG_CUBLAS_INCLUDE_DIR)
    testlog_not_found(TESTLOG_WITH_CUBLAS "cublasLt.h in ${TESTLOG_CUDA_INCLUDE_DIR}" WITHOUT "${without}")
  endif()
endfunction()

function(testlog_missing package debian for)
  message(FATAL_ERROR "testlog needs ${package} for ${for}, and it was not found.\n"
    "Debian and Ubuntu: apt-get install ${debian} (or run tools/setup.sh; for the benchmarks: tools/setup.sh bench).\n"
    "Elsewhere: install it and add its prefix to CMAKE_PREFIX_PATH.")
endfunction()
