# testlog_install(<version> <component>...)
#
# Installs components of the package (tracing, testlog, cuda_cpu): libraries and headers, an export set for each, files for pkg-config,
# the config that loads them with their dependencies, and the CMake modules that users of the package include. A component `command`
# has an export set already.
#
# testlog_install_with(<version> <folder>)
#
# As a subproject: installs the component tracing if a library of the project, which is in this source folder, links it. Without that,
# CMake refuses to export such a library. Does nothing if one of our own dependencies is no installed package, which CMake would
# refuse, too.

include(CMakePackageConfigHelpers)

set_property(GLOBAL PROPERTY TESTLOG_INSTALL_FOLDER ${CMAKE_CURRENT_LIST_DIR})

function(testlog_install version)
  include(GNUInstallDirs)
  get_property(modules GLOBAL PROPERTY TESTLOG_INSTALL_FOLDER)
  get_property(libraries GLOBAL PROPERTY TESTLOG_LIBRARIES)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/testlog)
  set(made ${testlog_BINARY_DIR}/package)
  foreach(library IN LISTS libraries)
    get_target_property(component ${library} TESTLOG_COMPONENT)
    if(component IN_LIST ARGN)
      install(TARGETS ${library} EXPORT ${component}-targets OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/testlog)
      testlog_install_headers(${library})
      testlog_pkg_config(${library} ${version} ${made})
    endif()
  endforeach()
  foreach(component IN LISTS ARGN)
    set(namespace ${component})
    if(NOT component STREQUAL "tracing")
      set(namespace testlog)
    endif()
    install(EXPORT ${component}-targets NAMESPACE ${namespace}:: FILE ${component}-targets.cmake DESTINATION ${package_dir})
    get_property(dependencies GLOBAL PROPERTY TESTLOG_${component}_DEPENDENCIES)
    list(JOIN dependencies "\n" dependencies)
    file(CONFIGURE OUTPUT ${made}/${component}-dependencies.cmake CONTENT "${dependencies}\n" @ONLY)
    install(FILES ${made}/${component}-dependencies.cmake DESTINATION ${package_dir})
  endforeach()

  set(TESTLOG_COMPONENTS ${ARGN})
  configure_package_config_file(${modules}/testlogConfig.cmake.in ${made}/testlogConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${made}/testlogConfigVersion.cmake VERSION ${version} COMPATIBILITY SameMinorVersion)
  install(FILES
    ${made}/testlogConfig.cmake
    ${made}/testlogConfigVersion.cmake
    ${modules}/TestlogCuda.cmake
    ${modules}/TestlogCudaOnCpu.cmake
    ${modules}/TestlogAfterCtest.cmake
    ${modules}/TestlogCheckCounts.cmake
    ${modules}/TestlogDiscoverTests.cmake
    ${modules}/TestlogAddTest.cmake
    DESTINATION ${package_dir})
  set(doc ${CMAKE_INSTALL_DATAROOTDIR}/doc/testlog)
  install(FILES ${testlog_SOURCE_DIR}/LICENSE DESTINATION ${doc})
  if("testlog" IN_LIST ARGN)  # not with another project's libraries; the pages link each other by these paths
    install(FILES ${testlog_SOURCE_DIR}/README.md ${testlog_SOURCE_DIR}/CHANGELOG.md ${testlog_SOURCE_DIR}/CONTRIBUTING.md
      DESTINATION ${doc})
    install(DIRECTORY ${testlog_SOURCE_DIR}/docs DESTINATION ${doc} FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.png
      PATTERN approved EXCLUDE)
    install(DIRECTORY ${testlog_SOURCE_DIR}/examples DESTINATION ${doc} PATTERN .* EXCLUDE)
  endif()
  install(FILES ${testlog_SOURCE_DIR}/tools/valgrind.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/testlog)
endfunction()

# Not by a file set of CMake, which CMake 3.22 does not have.
function(testlog_install_headers library)
  get_target_property(headers ${library} TESTLOG_HEADERS)
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH path ${testlog_SOURCE_DIR} ${header})
    cmake_path(GET path PARENT_PATH folder)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  endforeach()
endfunction()

# Writes and installs a file for pkg-config, which finds the package by its own place. What a shared library needs for itself is left
# out; the users of a static one link it. CUDA's headers are left out, too: nvcc has them, and others name the toolkit themselves.
function(testlog_pkg_config library version made)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "OBJECT_LIBRARY" OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  testlog_pkg_config_needs(${library} requires libs)
  set(own -l${library})
  if(TARGET ${library}_keep AND type STREQUAL "STATIC_LIBRARY")
    set(own "-Wl,-u,${library}_keep_linked -l${library}")  # as a program need not name it
  elseif(TARGET ${library}_keep)
    # One word, since pkg-config drops words that occur twice; the file itself, since Meson looks into no such word.
    set(own "-Wl,--push-state,--no-as-needed,\${libdir}/lib${library}.so,--pop-state")
  endif()
  string(STRIP "${own} ${libs}" libs)
  get_target_property(definitions tracing_core INTERFACE_COMPILE_DEFINITIONS)
  set(flags "")
  if(definitions)
    list(TRANSFORM definitions PREPEND " -D")
    list(JOIN definitions "" flags)
  endif()
  set(libdir ${CMAKE_INSTALL_LIBDIR})
  set(includedir ${CMAKE_INSTALL_INCLUDEDIR})
  cmake_path(IS_ABSOLUTE libdir is_absolute)
  if(is_absolute)
    set(prefix ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH prefix /${libdir}/pkgconfig /)
    set(prefix "\${pcfiledir}/${prefix}")
    string(REGEX REPLACE "/$" "" prefix "${prefix}")
  endif()
  foreach(folder IN ITEMS libdir includedir)
    cmake_path(IS_ABSOLUTE ${folder} is_absolute)
    if(NOT is_absolute)
      string(PREPEND ${folder} "\${prefix}/")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${made}/${library}.pc @ONLY CONTENT [[
prefix=@prefix@
libdir=@libdir@
includedir=@includedir@

Name: @library@
Description: Structured, nested tracing for C++20, visible in GoogleTest tests
Version: @version@
Requires: @requires@
Cflags: -I${includedir}@flags@
Libs: -L${libdir} @libs@
]])
  install(FILES ${made}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# Gives what a library links in pkg-config's words: modules, and libraries that have none.
function(testlog_pkg_config_needs library requires_out libs_out)
  get_property(own_libraries GLOBAL PROPERTY TESTLOG_LIBRARIES)
  get_target_property(needs ${library} INTERFACE_LINK_LIBRARIES)
  set(requires "")
  set(libs "")
  foreach(need IN LISTS needs)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" need "${need}")
    if(TARGET "${need}")
      get_target_property(aliased ${need} ALIASED_TARGET)
      if(aliased)
        set(need ${aliased})
      endif()
    endif()
    if(need IN_LIST own_libraries)
      list(APPEND requires ${need})
    elseif(need MATCHES "^(fmt|spdlog|GTest|re2|httplib|ZLIB|PkgConfig)::(.+)$")
      string(REPLACE "_" "-" module ${CMAKE_MATCH_2})
      string(REGEX REPLACE "[-](header-only)$" "" module ${module})
      string(REGEX REPLACE "^ZLIB$" "zlib" module ${module})
      string(REGEX REPLACE "^httplib$" "cpp-httplib" module ${module})
      list(APPEND requires ${module})
    elseif(need STREQUAL "Threads::Threads")
      list(APPEND libs -pthread)
    elseif(need MATCHES "^[a-z]+$")
      list(APPEND libs -l${need})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES requires)
  list(JOIN requires " " requires)
  list(JOIN libs " " libs)
  set(${requires_out} "${requires}" PARENT_SCOPE)
  set(${libs_out} "${libs}" PARENT_SCOPE)
endfunction()

function(testlog_install_with version folder)
  foreach(target IN ITEMS fmt::fmt spdlog::spdlog)
    get_target_property(is_imported ${target} IMPORTED)
    if(NOT is_imported)
      testlog_build_what_is_linked()
      return()
    endif()
  endforeach()
  testlog_first_that_links_tracing(${CMAKE_SOURCE_DIR} ${folder} found)
  if(found)
    message(STATUS "testlog: tracing is installed with ${found}, which links it (TESTLOG_INSTALL=OFF does not install it)")
    testlog_install(${version} tracing)
  else()
    testlog_build_what_is_linked()
  endif()
endfunction()

function(testlog_first_that_links_tracing folder without result)
  set(${result} "" PARENT_SCOPE)
  if(folder STREQUAL without)
    return()
  endif()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(private ${target} LINK_LIBRARIES)
    get_target_property(public ${target} INTERFACE_LINK_LIBRARIES)
    if(type MATCHES "_LIBRARY$" AND "${private};${public}" MATCHES "tracing(::|_)(core|subscriber|mock|inspect|profile|cuda)")
      set(${result} ${target} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    testlog_first_that_links_tracing(${subfolder} ${without} found)
    if(found)
      set(${result} ${found} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
